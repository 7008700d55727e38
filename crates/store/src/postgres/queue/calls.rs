//! Model calls of workers. The reservation of money and the row of the call are one statement.

use super::lease::WorkerLease;
use super::session::{QueueSql, column, count};
use super::vendors::{self, VendorGate, VendorStates};
use crate::postgres::text::{encode, get_text};
use crate::{CallKey, StoreError};
use std::collections::BTreeSet;
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

/// Sum of ceilings that is reserved in one statement. Larger ones are no real prices.
const MAX_AT_ONCE: u64 = 1 << 60;
/// Pause before money that is reserved by others is asked for again.
const FUNDS_PAUSE: Duration = Duration::from_millis(100);

/// Reserves calls: all of them in one statement if no vendor has a limit and the budget covers them, else one after the other.
pub(super) fn reserve_all(
    sql: &QueueSql<'_>,
    lease: &WorkerLease,
    tickets: &[CallTicket],
    vendors: &VendorStates,
) -> Result<Vec<ReserveAnswer>, StoreError> {
    let distinct: BTreeSet<&CallKey> = tickets.iter().map(|ticket| &ticket.call).collect();
    let sum = tickets.iter().try_fold(0_u64, |sum, ticket| sum.checked_add(ticket.ceiling)).filter(|sum| *sum < MAX_AT_ONCE);
    let is_free = tickets.iter().all(|ticket| vendors.is_free(&ticket.vendor)) && distinct.len() == tickets.len();
    if tickets.len() > 1
        && let Some(sum) = sum.filter(|_| is_free)
        && reserve_group(sql, lease, tickets, column(sum))?
    {
        return Ok(tickets.iter().map(|ticket| ReserveAnswer::Reserved { halvings: vendors.halvings(&ticket.vendor) }).collect());
    }
    tickets.iter().map(|ticket| reserve(sql, lease, ticket)).collect()
}

/// Reserves calls if the budget covers all of them and none is under way. Returns false, and has changed nothing, if not.
fn reserve_group(sql: &QueueSql<'_>, lease: &WorkerLease, tickets: &[CallTicket], sum: i64) -> Result<bool, StoreError> {
    let (trials, roles, numbers) = call_columns(tickets.iter().map(|ticket| &ticket.call));
    let ceilings: Vec<i64> = tickets.iter().map(|ticket| column(ticket.ceiling)).collect();
    let vendors: Vec<&str> = tickets.iter().map(|ticket| ticket.vendor.as_str()).collect();
    let reserved = sql.execute(
        "WITH given AS (
             SELECT * FROM unnest($4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[]) AS given (trial, role, n, ceiling, vendor)),
         funded AS (
             UPDATE budgets SET reserved = reserved + $3
             WHERE run = $1 AND impossible = 0 AND (cap IS NULL OR spent + reserved + $3 <= cap)
               AND NOT EXISTS (SELECT 1 FROM calls JOIN given ON calls.trial = given.trial AND calls.role = given.role AND calls.n = given.n
                   WHERE calls.run = $1 AND calls.state <> 'failed')
             RETURNING run)
         INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost, worker, vendor)
         SELECT run, trial, role, n, 'reserved', 1, ceiling, 0, 0, $2, vendor FROM given, funded
         ON CONFLICT (run, trial, role, n) DO UPDATE SET state = 'reserved', attempts = calls.attempts + 1, ceiling = excluded.ceiling,
             worker = excluded.worker, vendor = excluded.vendor WHERE calls.state = 'failed'",
        &[&lease.run, &lease.worker, &sum, &trials, &roles, &numbers, &ceilings, &vendors],
    )?;
    match reserved {
        0 => Ok(false),
        all if all == tickets.len() as u64 => Ok(true),
        some => Err(StoreError::Journal(format!("{some} of {} calls were reserved", tickets.len()))),
    }
}

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

/// Settled call of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettledWrite<'w> {
    pub(super) call: &'w CallKey,
    pub(super) cost: u64,
    pub(super) waited_us: Option<u64>,
    pub(super) reply: &'w str,
}

/// Settles calls in one statement. Those that an earlier attempt has settled change nothing.
pub(super) fn settle_all(
    sql: &QueueSql<'_>,
    lease: &WorkerLease,
    settled: &[SettledWrite<'_>],
    change: &mut BudgetChange,
) -> Result<(), StoreError> {
    if settled.is_empty() {
        return Ok(());
    }
    let (trials, roles, numbers) = call_columns(settled.iter().map(|write| write.call));
    let costs: Vec<i64> = settled.iter().map(|write| column(write.cost)).collect();
    let waited: Vec<Option<i64>> = settled.iter().map(|write| write.waited_us.map(column)).collect();
    let replies: Vec<String> = settled.iter().map(|write| encode(write.reply)).collect();
    let rows = sql.query(
        "UPDATE calls SET state = 'settled', cost = given.cost, waited_us = given.waited_us, reply = given.reply
         FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[])
             AS given (trial, role, n, cost, waited_us, reply)
         WHERE calls.run = $1 AND calls.worker = $2 AND calls.state = 'reserved'
             AND calls.trial = given.trial AND calls.role = given.role AND calls.n = given.n
         RETURNING calls.ceiling, given.cost",
        &[&lease.run, &lease.worker, &trials, &roles, &numbers, &costs, &waited, &replies],
    )?;
    for row in &rows {
        change.add(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(())
}

/// Fails calls in one statement. The cost of the attempts stays spent.
pub(super) fn fail_all(
    sql: &QueueSql<'_>,
    lease: &WorkerLease,
    failed: &[(&CallKey, u64, &str)],
    change: &mut BudgetChange,
) -> Result<(), StoreError> {
    if failed.is_empty() {
        return Ok(());
    }
    let (trials, roles, numbers) = call_columns(failed.iter().map(|(call, ..)| *call));
    let costs: Vec<i64> = failed.iter().map(|(_, cost, _)| column(*cost)).collect();
    let reasons: Vec<String> = failed.iter().map(|(.., why)| encode(why)).collect();
    let rows = sql.query(
        "UPDATE calls SET state = 'failed', lost = calls.lost + given.cost, why = given.why
         FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[]) AS given (trial, role, n, cost, why)
         WHERE calls.run = $1 AND calls.worker = $2 AND calls.state = 'reserved'
             AND calls.trial = given.trial AND calls.role = given.role AND calls.n = given.n
         RETURNING calls.ceiling, given.cost",
        &[&lease.run, &lease.worker, &trials, &roles, &numbers, &costs, &reasons],
    )?;
    for row in &rows {
        change.add(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(())
}

/// Looks for the settled replies of calls, in their order.
pub(super) fn find_settled(sql: &QueueSql<'_>, run: i64, calls: &[CallKey]) -> Result<Vec<Option<(u64, String)>>, StoreError> {
    if calls.is_empty() {
        return Ok(vec![]);
    }
    let (trials, roles, numbers) = call_columns(calls);
    let rows = sql.query(
        "SELECT given.place, calls.cost, calls.reply
         FROM unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS given (trial, role, n, place)
         JOIN calls ON calls.run = $1 AND calls.trial = given.trial AND calls.role = given.role AND calls.n = given.n
         WHERE calls.state = 'settled'",
        &[&run, &trials, &roles, &numbers],
    )?;
    let mut found = vec![None; calls.len()];
    for row in &rows {
        let place = usize::try_from(row.try_get::<_, i64>(0)? - 1).unwrap_or_default();
        if let Some(slot) = found.get_mut(place) {
            *slot = Some((count(row.try_get(1)?), get_text(row, 2)?));
        }
    }
    Ok(found)
}

/// Columns of the keys of calls: trials, roles and numbers.
fn call_columns<'c>(calls: impl IntoIterator<Item = &'c CallKey>) -> (Vec<&'c str>, Vec<&'static str>, Vec<i64>) {
    let (mut trials, mut roles, mut numbers) = (vec![], vec![], vec![]);
    for CallKey { trial, role, n, .. } in calls {
        trials.push(trial.as_str());
        roles.push(*role);
        numbers.push(i64::from(*n));
    }
    (trials, roles, numbers)
}
