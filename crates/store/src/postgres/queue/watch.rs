//! State of a published run, for its watcher.

use super::lease::{fail_open_calls, release_workers};
use super::session::{QueueConnection, QueueSql, count, first_column};
use crate::StoreError;

/// State of a published run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueState {
    Open,
    /// Workers claim nothing, but may finish the trials that they have.
    Paused,
    /// No worker may write anything.
    Closed,
}

impl QueueState {
    fn word(self) -> &'static str {
        match self {
            QueueState::Open => "open",
            QueueState::Paused => "paused",
            QueueState::Closed => "closed",
        }
    }

    fn parse(word: &str) -> Self {
        match word {
            "open" => QueueState::Open,
            "paused" => QueueState::Paused,
            // The table permits no other word.
            _ => QueueState::Closed,
        }
    }
}

/// Progress of a published run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueProgress {
    pub state: QueueState,
    /// Reason of a pause.
    pub note: Option<String>,
    /// Position of the first trial that has not ended; `None` if the queue is empty.
    pub first_open: Option<u64>,
    /// Trials that workers have finished since the run was published.
    pub finished: u64,
    pub live_workers: u64,
    /// Live workers that can play at least one subject.
    pub able_workers: u64,
}

/// Trials of a subject that are left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectBacklog {
    /// Index of the subject in the plan.
    pub subject: u64,
    pub trials: u64,
    /// Live workers that can play the subject.
    pub workers: u64,
    /// Trials that a worker has now.
    pub claimed: u64,
}

/// Budget of a published run, in nano-dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedBudget {
    pub spent: u64,
    pub reserved: u64,
    pub unreadable: u64,
    pub impossible: u64,
    pub cheapest_refused: Option<u64>,
}

impl QueueConnection {
    /// Returns the progress of a run; `None` if it was never published.
    pub fn progress(&mut self, run: i64) -> Result<Option<QueueProgress>, StoreError> {
        self.transaction(|sql| {
            let row = sql.query_first(
                "SELECT state, note, (SELECT min(n) FROM jobs WHERE jobs.run = $1), coalesce(sum(finished), 0)::bigint,
                     count(*) FILTER (WHERE live), count(*) FILTER (WHERE live AND able)
                 FROM queues LEFT JOIN LATERAL (
                     SELECT finished, workers.state = 'live' AND expires >= clock_timestamp() AS live, cardinality(subjects) > 0 AS able
                     FROM workers WHERE workers.run = $1) AS known ON true
                 WHERE queues.run = $1 GROUP BY state, note",
                &[&run],
            )?;
            let Some(row) = row else { return Ok(None) };
            Ok(Some(QueueProgress {
                state: QueueState::parse(&row.try_get::<_, String>(0)?),
                note: row.try_get(1)?,
                first_open: row.try_get::<_, Option<i64>>(2)?.map(count),
                finished: count(row.try_get(3)?),
                live_workers: count(row.try_get(4)?),
                able_workers: count(row.try_get(5)?),
            }))
        })
    }

    /// Returns the trials that are left by subject. Reads every job, so it is for runs that do not go on.
    pub fn backlog(&mut self, run: i64) -> Result<Vec<SubjectBacklog>, StoreError> {
        self.transaction(|sql| {
            let rows = sql.query(
                "SELECT subject, count(*), count(worker), (SELECT count(*) FROM workers WHERE workers.run = $1 AND workers.state = 'live'
                     AND expires >= clock_timestamp() AND jobs.subject = ANY(subjects))
                 FROM jobs WHERE run = $1 GROUP BY subject ORDER BY subject",
                &[&run],
            )?;
            let read = |row: &tokio_postgres::Row| {
                let [subject, trials, claimed, workers] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?].map(count);
                Ok(SubjectBacklog { subject, trials, workers, claimed })
            };
            rows.iter().map(read).collect()
        })
    }

    /// Returns the reasons of live workers that cannot play every subject.
    pub fn inabilities(&mut self, run: i64) -> Result<Vec<String>, StoreError> {
        self.transaction(|sql| {
            let rows = sql.query(
                "SELECT DISTINCT name || ': ' || unable FROM workers
                 WHERE run = $1 AND state = 'live' AND expires >= clock_timestamp() AND unable <> '' ORDER BY 1",
                &[&run],
            )?;
            rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })
    }

    pub fn shared_budget(&mut self, run: i64) -> Result<SharedBudget, StoreError> {
        self.transaction(|sql| {
            let row =
                sql.query_first("SELECT spent, reserved, unreadable, impossible, cheapest_refused FROM budgets WHERE run = $1", &[&run])?;
            let Some(row) = row else { return Ok(SharedBudget::default()) };
            let [spent, reserved, unreadable, impossible] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?].map(count);
            Ok(SharedBudget { spent, reserved, unreadable, impossible, cheapest_refused: row.try_get::<_, Option<i64>>(4)?.map(count) })
        })
    }

    /// Pauses a run, unless it is closed. The first reason is kept.
    pub fn pause(&mut self, run: i64, note: &str) -> Result<(), StoreError> {
        self.transaction(|sql| {
            let paused = "UPDATE queues SET state = $2, note = coalesce(note, $3) WHERE run = $1 AND state <> 'closed'";
            sql.execute(paused, &[&run, &QueueState::Paused.word(), &note]).map(drop)
        })
    }

    /// Closes a run: takes back all leases and removes the trials that are left. Nothing of a worker is committed afterwards.
    pub fn close(&mut self, run: i64) -> Result<(), StoreError> {
        self.transaction(|sql| {
            let closed = sql.execute("UPDATE queues SET state = $2 WHERE run = $1", &[&run, &QueueState::Closed.word()])?;
            if closed == 0 {
                return Ok(());
            }
            dismiss_all(sql, run)?;
            sql.execute("DELETE FROM jobs WHERE run = $1", &[&run]).map(drop)
        })
    }
}

fn dismiss_all(sql: &QueueSql<'_>, run: i64) -> Result<(), StoreError> {
    let live = sql.query("SELECT worker FROM workers WHERE run = $1 AND state = 'live' FOR UPDATE", &[&run])?;
    let live = first_column(&live)?;
    release_workers(sql, run, &live, "dismissed")?;
    fail_open_calls(sql, run, &live)
}
