//! Publishing a run to workers, and finding published runs.

use super::content::{FileIndex, keep_contents};
use super::lease::release_workers;
use super::session::{QueueConnection, QueueSql, column, first_column};
use crate::StoreError;

/// Run as it is published.
#[derive(Debug, Clone, Copy)]
pub struct QueuedRun<'q> {
    pub run: i64,
    /// Version of the program that plans the run. Workers have the same.
    pub program: &'q str,
    /// Texts of the workspace, by path.
    pub files: &'q [(&'q str, &'q str)],
    /// Nano-dollars.
    pub cap: Option<u64>,
}

/// Numbers of a plan, from which the subject of a trial follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanShape {
    pub planned: u64,
    /// Trials per case and subject.
    pub trials: u64,
    pub subjects: u64,
}

/// Open run, as a worker finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenQueue {
    pub run: i64,
    pub program: String,
    pub files: FileIndex,
}

impl QueueConnection {
    /// Publishes a run without trials, or opens it again after an interruption. Money that was spent before counts against the cap.
    pub fn publish(&mut self, queued: &QueuedRun<'_>) -> Result<(), StoreError> {
        let index = FileIndex::of(queued.files.iter().copied());
        let index = serde_json::to_string(&index).map_err(|error| StoreError::Journal(error.to_string()))?;
        self.transaction(|sql| {
            keep_contents(sql, &queued.files.iter().map(|(_, text)| *text).collect::<Vec<_>>())?;
            let other = "SELECT worker FROM workers WHERE run = $1 AND state = 'live' AND program <> $2 FOR UPDATE";
            let other = sql.query(other, &[&queued.run, &queued.program])?;
            let other = first_column(&other)?;
            release_workers(sql, queued.run, &other, "dismissed")?;
            sql.execute(
                "INSERT INTO queues (run, state, program, files) VALUES ($1, 'open', $2, $3)
                 ON CONFLICT (run) DO UPDATE SET state = 'open', program = excluded.program, files = excluded.files, note = NULL",
                &[&queued.run, &queued.program, &index],
            )?;
            open_budget(sql, queued)
        })
    }

    /// Queues the trials of a plan that have no row yet, and those to be run again.
    ///
    /// No worker may finish a trial meanwhile: a trial that ends between the look at the rows and the insertion would be queued twice. So
    /// the leases are locked first, and the rows are read by a later statement.
    pub fn enqueue(&mut self, run: i64, shape: PlanShape, again: &[u64]) -> Result<(), StoreError> {
        let again: Vec<i64> = again.iter().copied().map(column).collect();
        let (planned, trials, subjects) = (column(shape.planned), column(shape.trials), column(shape.subjects));
        self.transaction(|sql| {
            lock_workers(sql, run)?;
            sql.execute(
                "INSERT INTO jobs (run, n, subject)
                 SELECT $1, n, (n / $3::bigint) % $4::bigint FROM generate_series(0, $2::bigint - 1) AS planned (n)
                 WHERE n = ANY($5) OR NOT EXISTS (SELECT 1 FROM trials WHERE trials.run = $1 AND trials.n = planned.n)
                 ON CONFLICT (run, n) DO NOTHING",
                &[&run, &planned, &trials, &subjects, &again],
            )?;
            Ok(())
        })
    }

    /// Queues these trials of a plan alone, unless they have ended.
    pub fn enqueue_first(&mut self, run: i64, shape: PlanShape, first: &[u64]) -> Result<(), StoreError> {
        let first: Vec<i64> = first.iter().copied().map(column).collect();
        let (trials, subjects) = (column(shape.trials), column(shape.subjects));
        self.transaction(|sql| {
            lock_workers(sql, run)?;
            sql.execute(
                "INSERT INTO jobs (run, n, subject) SELECT $1, n, (n / $3::bigint) % $4::bigint FROM unnest($2::bigint[]) AS planned (n)
                 ON CONFLICT (run, n) DO NOTHING",
                &[&run, &first, &trials, &subjects],
            )?;
            Ok(())
        })
    }

    /// Limits the positions that workers may claim; `None` permits all.
    pub fn set_claim_limit(&mut self, run: i64, before: Option<u64>) -> Result<(), StoreError> {
        let before = before.map(column);
        self.transaction(|sql| sql.execute("UPDATE queues SET claim_before = $2 WHERE run = $1", &[&run, &before]).map(drop))
    }

    /// Returns the open runs with trials that no worker has, the first one begun first.
    pub fn open_queues(&mut self) -> Result<Vec<OpenQueue>, StoreError> {
        self.transaction(|sql| {
            let rows = sql.query(
                "SELECT run, program, files FROM queues WHERE state = 'open'
                 AND EXISTS (SELECT 1 FROM jobs WHERE jobs.run = queues.run AND jobs.worker IS NULL AND (claim_before IS NULL OR n < claim_before))
                 ORDER BY run",
                &[],
            )?;
            let read = |row: &tokio_postgres::Row| {
                let (run, files): (i64, String) = (row.try_get(0)?, row.try_get(2)?);
                let files = serde_json::from_str(&files).map_err(|error| StoreError::unreadable(&run.to_string(), &error))?;
                Ok(OpenQueue { run, program: row.try_get(1)?, files })
            };
            rows.iter().map(read).collect()
        })
    }
}

/// Sets the cap, and the sums from the calls: another engine of the program may have played since.
fn open_budget(sql: &QueueSql<'_>, queued: &QueuedRun<'_>) -> Result<(), StoreError> {
    let (run, cap) = (queued.run, queued.cap.map(column));
    sql.execute("INSERT INTO budgets (run, spent, reserved) VALUES ($1, 0, 0) ON CONFLICT (run) DO NOTHING", &[&run])?;
    // The row is locked first: calls that workers write meanwhile change the sums after this transaction.
    sql.execute("UPDATE budgets SET cap = $2 WHERE run = $1", &[&run, &cap])?;
    sql.execute(
        "UPDATE calls SET state = 'failed', lost = lost + ceiling, why = 'under way when the process ended'
         WHERE run = $1 AND state = 'reserved' AND worker IS NULL",
        &[&run],
    )?;
    sql.execute(
        "UPDATE budgets SET cheapest_refused = NULL, (spent, reserved) = (
             SELECT coalesce(sum(lost + CASE state WHEN 'settled' THEN cost ELSE 0 END), 0)::bigint,
                    coalesce(sum(CASE state WHEN 'reserved' THEN ceiling ELSE 0 END), 0)::bigint
             FROM calls WHERE calls.run = $1) WHERE run = $1",
        &[&run],
    )?;
    Ok(())
}

/// Keeps workers from writing and from registering until the end of the transaction.
fn lock_workers(sql: &QueueSql<'_>, run: i64) -> Result<(), StoreError> {
    sql.query("SELECT 1 FROM queues WHERE run = $1 FOR UPDATE", &[&run])?;
    sql.query("SELECT 1 FROM workers WHERE run = $1 AND state = 'live' ORDER BY worker FOR UPDATE", &[&run])?;
    Ok(())
}
