//! Leases of workers. A lease is a row that every transaction of its worker locks and renews first.

use super::session::{QueueConnection, QueueSql, column, first_column};
use crate::StoreError;
use std::time::Duration;

/// Worker as it registers for a run.
#[derive(Debug, Clone)]
pub struct NewWorker {
    pub run: i64,
    /// Machine and process, for people.
    pub name: String,
    pub program: String,
    /// Indices of the subjects of the plan that it can play.
    pub subjects: Vec<u64>,
    /// Subjects that it cannot play, with the reasons, for people.
    pub unable: String,
    pub lease: Duration,
}

/// Lease of a registered worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLease {
    pub run: i64,
    /// Number that no other registration has: it fences the writes of this one.
    pub worker: i64,
    /// Time without a renewal after which the lease is taken back.
    pub length: Duration,
}

impl QueueConnection {
    /// Registers a worker.
    ///
    /// # Errors
    /// If the run is not open, or was planned by another version of the program.
    pub fn register(&mut self, new: &NewWorker) -> Result<WorkerLease, StoreError> {
        let subjects: Vec<i64> = new.subjects.iter().copied().map(column).collect();
        let lease_s = new.lease.as_secs_f64();
        self.transaction(|sql| {
            let queue = sql.query_first("SELECT program, state FROM queues WHERE run = $1 FOR SHARE", &[&new.run])?;
            let Some(queue) = queue else { return Err(StoreError::NotQueued { run: new.run }) };
            let (program, state): (String, String) = (queue.try_get(0)?, queue.try_get(1)?);
            if program != new.program {
                return Err(StoreError::OtherProgram { planned: program, this: new.program.clone() });
            }
            if state != "open" {
                return Err(StoreError::NotQueued { run: new.run });
            }
            let rows = sql.query(
                "INSERT INTO workers (run, name, program, state, subjects, unable, lease_s, expires)
                 VALUES ($1, $2, $3, 'live', $4, $5, $6, clock_timestamp() + make_interval(secs => $6)) RETURNING worker",
                &[&new.run, &new.name, &new.program, &subjects, &new.unable, &lease_s],
            )?;
            let worker = rows.first().ok_or(StoreError::LeaseLost)?.try_get(0)?;
            Ok(WorkerLease { run: new.run, worker, length: new.lease })
        })
    }

    /// Ends a lease. Trials that the worker still has return to the queue, and its calls in flight are charged.
    pub fn leave(&mut self, lease: &WorkerLease) -> Result<(), StoreError> {
        self.transaction(|sql| {
            let live = sql.query("SELECT worker FROM workers WHERE worker = $1 AND state = 'live' FOR UPDATE", &[&lease.worker])?;
            if live.is_empty() { Ok(()) } else { release_workers(sql, lease.run, &[lease.worker], "left") }
        })
    }

    /// Takes back the leases of a run that were not renewed in time, and returns their number.
    pub fn reclaim(&mut self, run: i64) -> Result<usize, StoreError> {
        self.transaction(|sql| {
            let expired =
                "SELECT worker FROM workers WHERE run = $1 AND state = 'live' AND expires < clock_timestamp() FOR UPDATE SKIP LOCKED";
            let expired = sql.query(expired, &[&run])?;
            let expired = first_column(&expired)?;
            release_workers(sql, run, &expired, "lost")?;
            Ok(expired.len())
        })
    }
}

/// Locks and renews the lease. Nothing of the transaction is committed if the lease was taken back.
pub(super) fn renew(sql: &QueueSql<'_>, lease: &WorkerLease, finished: u64) -> Result<(), StoreError> {
    let renewed = sql.execute(
        "UPDATE workers SET expires = clock_timestamp() + make_interval(secs => lease_s), finished = finished + $2
         WHERE worker = $1 AND state = 'live'",
        &[&lease.worker, &column(finished)],
    )?;
    if renewed == 1 { Ok(()) } else { Err(StoreError::LeaseLost) }
}

/// Ends the leases of workers: their trials return to the queue. Calls in flight are charged their ceiling and may be repeated, as after a
/// crash on one machine. The rows of the workers are locked by the caller.
pub(super) fn release_workers(sql: &QueueSql<'_>, run: i64, workers: &[i64], state: &str) -> Result<(), StoreError> {
    if workers.is_empty() {
        return Ok(());
    }
    sql.execute("UPDATE workers SET state = $2 WHERE worker = ANY($1)", &[&workers, &state])?;
    sql.execute("UPDATE jobs SET worker = NULL WHERE run = $1 AND worker = ANY($2)", &[&run, &workers])?;
    fail_open_calls(sql, run, workers)
}

/// Charges the calls in flight of workers at their ceiling.
pub(super) fn fail_open_calls(sql: &QueueSql<'_>, run: i64, workers: &[i64]) -> Result<(), StoreError> {
    let failed = sql.query(
        "UPDATE calls SET state = 'failed', lost = lost + ceiling, why = 'under way when the process ended'
         WHERE run = $1 AND state = 'reserved' AND worker = ANY($2) RETURNING ceiling",
        &[&run, &workers],
    )?;
    if failed.is_empty() {
        return Ok(());
    }
    let charged = failed.iter().map(|row| row.try_get::<_, i64>(0)).sum::<Result<i64, _>>()?;
    sql.execute("UPDATE budgets SET reserved = reserved - $2, spent = spent + $2 WHERE run = $1", &[&run, &charged])?;
    let again = column(failed.len() as u64);
    sql.execute(
        "INSERT INTO telemetry (run, what, n) VALUES ($1, 'asked_again', $2)
         ON CONFLICT (run, what) DO UPDATE SET n = telemetry.n + excluded.n",
        &[&run, &again],
    )?;
    Ok(())
}
