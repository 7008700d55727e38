//! Finishing trials: the row of the trial replaces its job, in one transaction with the lease.

use super::calls::BudgetChange;
use super::lease::WorkerLease;
use super::session::{QueueSql, column, count};
use crate::postgres::group::trial_statements;
use crate::{StoreError, TrialRow};
use std::collections::BTreeSet;
use tokio_postgres::types::ToSql;

/// Answer to the end of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishAnswer {
    /// The trial is stored and has left the queue.
    Stored,
    /// The run was stopped before this trial, so the trial is dropped.
    Withdrawn,
}

/// Stores finished trials of the worker, and returns the positions that were stored now or by an earlier attempt.
pub(super) fn finish(sql: &QueueSql<'_>, lease: &WorkerLease, rows: &[&TrialRow]) -> Result<BTreeSet<u64>, StoreError> {
    let positions: Vec<i64> = rows.iter().map(|row| column(row.n)).collect();
    let done =
        sql.query("DELETE FROM jobs WHERE run = $1 AND worker = $2 AND n = ANY($3) RETURNING n", &[&lease.run, &lease.worker, &positions])?;
    let mut done = done.iter().map(|row| Ok(count(row.try_get(0)?))).collect::<Result<BTreeSet<u64>, StoreError>>()?;
    let stored: Vec<&TrialRow> = rows.iter().copied().filter(|row| done.contains(&row.n)).collect();
    for statement in trial_statements(&stored)? {
        let params: Vec<&(dyn ToSql + Sync)> = statement.params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect();
        sql.execute(statement.sql, &params)?;
    }
    for row in rows.iter().filter(|row| !done.contains(&row.n)).collect::<Vec<_>>() {
        let same = "SELECT 1 FROM trials WHERE run = $1 AND n = $2 AND content = $3";
        if sql.query_first(same, &[&lease.run, &column(row.n), &row.transcript.content_hash.as_str()])?.is_some() {
            done.insert(row.n);
        }
    }
    Ok(done)
}

/// Charges the calls that the finished trials of this worker have dropped without an answer, at their ceiling.
pub(super) fn fail_dropped_calls(
    sql: &QueueSql<'_>,
    lease: &WorkerLease,
    trials: &[&str],
    change: &mut BudgetChange,
) -> Result<(), StoreError> {
    let dropped = sql.query(
        "UPDATE calls SET state = 'failed', lost = lost + ceiling, why = 'dropped without a reply'
         WHERE run = $1 AND worker = $2 AND state = 'reserved' AND trial = ANY($3) RETURNING ceiling",
        &[&lease.run, &lease.worker, &trials],
    )?;
    for row in &dropped {
        let ceiling = row.try_get(0)?;
        change.add(ceiling, ceiling);
    }
    Ok(())
}
