//! Calls of the judge's model with their money. A call is stored before it is sent; one without a cost counts at its ceiling.

use super::ProductionStore;
use crate::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

/// Money that may be spent in one day, in nanodollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayLimit {
    /// Days since 1970, UTC.
    pub day: u64,
    pub nanos: u64,
}

/// Answer to a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallReservation {
    Reserved,
    /// The rest of the day's money does not cover the call.
    TooLittle {
        left: u64,
    },
}

impl ProductionStore {
    /// Reserves the ceiling of a call, durably and for all processes, unless it would exceed the limit of the day.
    pub fn reserve_judge_call(&self, call: &str, limit: DayLimit, ceiling: u64) -> Result<CallReservation, StoreError> {
        let transaction = self.transaction()?;
        let left = limit.nanos.saturating_sub(spent_on(&transaction, limit.day)?);
        if left < ceiling {
            return Ok(CallReservation::TooLittle { left });
        }
        transaction.execute("INSERT INTO judge_calls (call, day, ceiling) VALUES (?1, ?2, ?3)", params![call, limit.day, ceiling])?;
        transaction.commit()?;
        Ok(CallReservation::Reserved)
    }

    /// Settles the newest open reservation of a call. Without a reply the call failed, and its cost stays spent.
    pub fn settle_judge_call(&self, call: &str, cost: u64, reply: Option<&str>) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        transaction.execute(
            "UPDATE judge_calls SET cost = ?2, reply = ?3
             WHERE n = (SELECT max(n) FROM judge_calls WHERE call = ?1 AND cost IS NULL)",
            params![call, cost.min(i64::MAX as u64), reply],
        )?;
        Ok(transaction.commit()?)
    }

    /// Returns cost and reply of a call that was answered before.
    pub fn settled_judge_call(&self, call: &str) -> Result<Option<(u64, String)>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT cost, reply FROM judge_calls WHERE call = ?1 AND reply IS NOT NULL ORDER BY n DESC LIMIT 1")?;
        Ok(statement.query_row([call], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// Returns the money of a day in nanodollars, open calls at their ceiling.
    pub fn judge_spending(&self, day: u64) -> Result<u64, StoreError> {
        spent_on(&self.connection, day)
    }
}

fn spent_on(connection: &Connection, day: u64) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT coalesce(sum(coalesce(cost, ceiling)), 0) FROM judge_calls WHERE day = ?1")?;
    Ok(statement.query_row([day], |row| row.get(0))?)
}
