//! Model calls of workers. The reservation of money and the row of the call are one statement.

use super::lease::WorkerLease;
use super::session::{QueueSql, column, count};
use super::vendors::{self, VendorGate};
use crate::postgres::text::encode;
use crate::{CallKey, StoreError};
use std::time::Duration;

/// Call to be reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTicket {
    pub call: CallKey,
    /// Most that the call may cost, in nano-dollars.
    pub ceiling: u64,
    /// Vendor and fingerprint of the key that the call is sent with.
    pub vendor: String,
}

/// Answer to a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReserveAnswer {
    /// The call may be sent.
    Reserved {
        /// Number of halvings of the vendor's limit so far, for [`super::VendorThrottle`].
        halvings: u64,
    },
    /// Calls in flight may release money, or the vendor asked for a pause.
    Wait(Duration),
    /// No call in flight can release the money that is missing.
    TooLittle { left: u64 },
    /// A vendor reported impossible token counts; nothing more is paid.
    Closed,
}

/// Pause before money that is reserved by others is asked for again.
const FUNDS_PAUSE: Duration = Duration::from_millis(100);

/// Reserves a call, unless the vendor is paused or the budget does not cover it. A repeated attempt finds its own row.
pub(super) fn reserve(sql: &QueueSql<'_>, lease: &WorkerLease, ticket: &CallTicket) -> Result<ReserveAnswer, StoreError> {
    let halvings = match vendors::gate(sql, &ticket.vendor)? {
        VendorGate::Open { halvings } => halvings,
        VendorGate::Paused(wait) => return Ok(ReserveAnswer::Wait(wait)),
    };
    let CallTicket { call: CallKey { run, trial, role, n }, ceiling, vendor } = ticket;
    let (n, most) = (i64::from(*n), column(*ceiling));
    let reserved = sql.execute(
        "WITH funded AS (
             UPDATE budgets SET reserved = reserved + $5
             WHERE run = $1 AND impossible = 0 AND (cap IS NULL OR spent + reserved + $5 <= cap)
               AND NOT EXISTS (SELECT 1 FROM calls WHERE run = $1 AND trial = $2 AND role = $3 AND n = $4 AND state <> 'failed')
             RETURNING run)
         INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost, worker, vendor)
         SELECT run, $2, $3, $4, 'reserved', 1, $5, 0, 0, $6, $7 FROM funded
         ON CONFLICT (run, trial, role, n) DO UPDATE SET state = 'reserved', attempts = calls.attempts + 1, ceiling = excluded.ceiling,
             worker = excluded.worker, vendor = excluded.vendor WHERE calls.state = 'failed'",
        &[run, &trial.as_str(), role, &n, &most, &lease.worker, vendor],
    )?;
    if reserved == 1 { Ok(ReserveAnswer::Reserved { halvings }) } else { refusal(sql, lease, ticket, halvings) }
}

/// Finds out why a call was not reserved.
fn refusal(sql: &QueueSql<'_>, lease: &WorkerLease, ticket: &CallTicket, halvings: u64) -> Result<ReserveAnswer, StoreError> {
    let CallKey { run, trial, role, n } = &ticket.call;
    let own = sql.query_first(
        "SELECT state = 'reserved' AND worker = $5 FROM calls WHERE run = $1 AND trial = $2 AND role = $3 AND n = $4 AND state <> 'failed'",
        &[run, &trial.as_str(), role, &i64::from(*n), &lease.worker],
    )?;
    match own.map(|row| row.try_get::<_, Option<bool>>(0)).transpose()?.map(|own| own == Some(true)) {
        Some(true) => return Ok(ReserveAnswer::Reserved { halvings }),
        Some(false) => return Err(ticket.call.refused("it is under way or settled already")),
        None => {}
    }
    let most = column(ticket.ceiling);
    let budget = "SELECT impossible > 0, reserved > 0, greatest(cap - spent - reserved, 0) FROM budgets WHERE run = $1 FOR UPDATE";
    let Some(budget) = sql.query_first(budget, &[run])? else { return Err(StoreError::NotQueued { run: *run }) };
    if budget.try_get(0)? {
        return Ok(ReserveAnswer::Closed);
    }
    let left = count(budget.try_get::<_, Option<i64>>(2)?.unwrap_or(i64::MAX));
    // Money may have been released since the statement above.
    if budget.try_get(1)? || left >= ticket.ceiling {
        return Ok(ReserveAnswer::Wait(FUNDS_PAUSE));
    }
    sql.execute("UPDATE budgets SET cheapest_refused = least(coalesce(cheapest_refused, $2), $2) WHERE run = $1", &[run, &most])?;
    Ok(ReserveAnswer::TooLittle { left })
}

/// Money that the calls of a group release and spend.
#[derive(Debug, Default)]
pub(super) struct BudgetChange {
    released: i64,
    spent: i64,
    pub(super) unreadable: i64,
    pub(super) impossible: i64,
}

impl BudgetChange {
    pub(super) fn add(&mut self, ceiling: i64, cost: i64) {
        self.released = self.released.saturating_add(ceiling);
        self.spent = self.spent.saturating_add(cost);
    }

    /// Applies the change. Runs without calls leave the row alone.
    pub(super) fn apply(&self, sql: &QueueSql<'_>, run: i64) -> Result<(), StoreError> {
        let Self { released, spent, unreadable, impossible } = self;
        if [*released, *spent, *unreadable, *impossible] == [0; 4] {
            return Ok(());
        }
        sql.execute(
            "UPDATE budgets SET reserved = reserved - $2, spent = spent + $3, unreadable = unreadable + $4, impossible = impossible + $5
             WHERE run = $1",
            &[&run, released, spent, unreadable, impossible],
        )?;
        Ok(())
    }
}

/// Settles a call. One that an earlier attempt has settled changes nothing.
pub(super) fn settle(
    sql: &QueueSql<'_>,
    (call, worker): (&CallKey, i64),
    (cost, waited_us, reply): (u64, Option<u64>, &str),
    change: &mut BudgetChange,
) -> Result<(), StoreError> {
    let CallKey { run, trial, role, n } = call;
    let (cost, waited_us) = (column(cost), waited_us.map(column));
    let settled = sql.query_first(
        "UPDATE calls SET state = 'settled', cost = $6, waited_us = $7, reply = $8
         WHERE run = $1 AND trial = $2 AND role = $3 AND n = $4 AND worker = $5 AND state = 'reserved' RETURNING ceiling",
        &[run, &trial.as_str(), role, &i64::from(*n), &worker, &cost, &waited_us, &encode(reply)],
    )?;
    if let Some(row) = settled {
        change.add(row.try_get(0)?, cost);
    }
    Ok(())
}

/// Fails a call. The cost of the attempt stays spent.
pub(super) fn fail(
    sql: &QueueSql<'_>,
    (call, worker): (&CallKey, i64),
    (cost, why): (u64, &str),
    change: &mut BudgetChange,
) -> Result<(), StoreError> {
    let CallKey { run, trial, role, n } = call;
    let cost = column(cost);
    let failed = sql.query_first(
        "UPDATE calls SET state = 'failed', lost = lost + $6, why = $7
         WHERE run = $1 AND trial = $2 AND role = $3 AND n = $4 AND worker = $5 AND state = 'reserved' RETURNING ceiling",
        &[run, &trial.as_str(), role, &i64::from(*n), &worker, &cost, &encode(why)],
    )?;
    if let Some(row) = failed {
        change.add(row.try_get(0)?, cost);
    }
    Ok(())
}
