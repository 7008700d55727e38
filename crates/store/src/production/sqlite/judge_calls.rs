//! Calls of the judge's model with their money. A call is stored before it is sent; one without a cost counts at its ceiling.

use super::SqliteTraces;
use crate::StoreError;
use crate::production::engine::JudgeCallTable;
use crate::production::records::{CallReservation, DayLimit};
use rusqlite::{Connection, OptionalExtension, params};

impl JudgeCallTable for SqliteTraces {
    fn reserve_judge_call(&self, call: &str, limit: DayLimit, ceiling: u64) -> Result<CallReservation, StoreError> {
        let transaction = self.transaction()?;
        let left = limit.nanos.saturating_sub(spent_on(&transaction, limit.day)?);
        if left < ceiling {
            return Ok(CallReservation::TooLittle { left });
        }
        transaction.execute("INSERT INTO judge_calls (call, day, ceiling) VALUES (?1, ?2, ?3)", params![call, limit.day, ceiling])?;
        transaction.commit()?;
        Ok(CallReservation::Reserved)
    }

    fn settle_judge_call(&self, call: &str, cost: u64, reply: Option<&str>) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        transaction.execute(
            "UPDATE judge_calls SET cost = ?2, reply = ?3
             WHERE n = (SELECT max(n) FROM judge_calls WHERE call = ?1 AND cost IS NULL)",
            params![call, cost.min(i64::MAX as u64), reply],
        )?;
        Ok(transaction.commit()?)
    }

    fn settled_judge_call(&self, call: &str) -> Result<Option<(u64, String)>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT cost, reply FROM judge_calls WHERE call = ?1 AND reply IS NOT NULL ORDER BY n DESC LIMIT 1")?;
        Ok(statement.query_row([call], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    fn judge_spending(&self, day: u64) -> Result<u64, StoreError> {
        spent_on(&self.connection, day)
    }
}

fn spent_on(connection: &Connection, day: u64) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT coalesce(sum(coalesce(cost, ceiling)), 0) FROM judge_calls WHERE day = ?1")?;
    Ok(statement.query_row([day], |row| row.get(0))?)
}
