//! Claiming trials.

use super::lease::WorkerLease;
use super::session::{QueueSql, column, count};
use crate::StoreError;
use tokio_postgres::Row;

/// Trial that a worker has claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedJob {
    /// Position in the plan.
    pub n: u64,
    /// Number of claims of this trial, this one included.
    pub attempt: u64,
}

/// Answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimAnswer {
    pub jobs: Vec<ClaimedJob>,
    /// Trials that the worker has already, if none was free. One of them may be unknown to it: the answer to its claim was lost.
    pub held: Vec<ClaimedJob>,
    /// The run is paused or over.
    pub is_closed: bool,
}

/// Claims the first free trials that the worker can play. Trials that another worker is about to claim are passed over, not waited for.
pub(super) fn claim(sql: &QueueSql<'_>, lease: &WorkerLease, subjects: &[u64], most: u64) -> Result<ClaimAnswer, StoreError> {
    let subjects: Vec<i64> = subjects.iter().copied().map(column).collect();
    let queue = sql.query_first("SELECT claim_before FROM queues WHERE run = $1 AND state = 'open'", &[&lease.run])?;
    let Some(queue) = queue else { return Ok(ClaimAnswer { jobs: vec![], held: vec![], is_closed: true }) };
    if most == 0 {
        // A look whether the run is still open.
        return Ok(ClaimAnswer { jobs: vec![], held: vec![], is_closed: false });
    }
    let before: Option<i64> = queue.try_get(0)?;
    let rows = sql.query(
        "WITH free AS (
             SELECT n FROM jobs WHERE run = $1 AND worker IS NULL AND subject = ANY($3) AND n < $4
             ORDER BY n LIMIT $5 FOR UPDATE SKIP LOCKED)
         UPDATE jobs SET worker = $2, attempt = attempt + 1 FROM free WHERE jobs.run = $1 AND jobs.n = free.n
         RETURNING jobs.n, jobs.attempt",
        &[&lease.run, &lease.worker, &subjects, &before.unwrap_or(i64::MAX), &column(most)],
    )?;
    let jobs = read_jobs(&rows)?;
    let held = match jobs.is_empty() {
        true => read_jobs(&sql.query("SELECT n, attempt FROM jobs WHERE run = $1 AND worker = $2", &[&lease.run, &lease.worker])?)?,
        false => vec![],
    };
    Ok(ClaimAnswer { jobs, held, is_closed: false })
}

/// Reads jobs in plan order.
fn read_jobs(rows: &[Row]) -> Result<Vec<ClaimedJob>, StoreError> {
    let read = |row: &Row| Ok(ClaimedJob { n: count(row.try_get(0)?), attempt: count(row.try_get(1)?) });
    let mut jobs = rows.iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
    jobs.sort_unstable_by_key(|job| job.n);
    Ok(jobs)
}
