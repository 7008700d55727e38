//! Runs in PostgreSQL.

use super::PgEngine;
use super::fault::{PgFault, PgFaultKind};
use super::session::{PgParam, PgStatement};
use super::text::{encode, get, get_count, get_optional_text, get_text, number};
use crate::engine::RunTable;
use crate::runs::RunColumns;
use crate::selection::RunQuery;
use crate::{NewRun, RunLock, StoreError};
use model::RECORD_FORMAT;
use std::collections::HashMap;
use std::time::Duration;
use tokio_postgres::Row;

/// Waits for the server to notice that the process which held a lock has ended.
const LOCK_ATTEMPTS: u32 = 40;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Plan of a run, and the same without its cases, which are most of a row.
const WHOLE_PLAN: &str = "plan";
const SHORT_PLAN: &str = "plan_without_cases";

/// Returns the statement that reads runs. Trials are counted only of the runs that `condition` selects.
fn select_runs(plan: &str, condition: &str) -> String {
    format!("
    SELECT runs.run, id, started, ended, format, workspace, claim, settings, {plan}, planned, budget, record, counts.finished, counts.passed,
        (SELECT least(coalesce(sum((lost + CASE state WHEN 'reserved' THEN ceiling ELSE cost END)::numeric), 0), 9e18)::bigint
            FROM calls WHERE calls.run = runs.run),
        counts.aborted,
        CASE WHEN plan IS NULL THEN
            (SELECT array_agg(subject ORDER BY first) FROM
                (SELECT subject, min(n) AS first FROM trials WHERE trials.run = runs.run GROUP BY subject) AS subjects)
        END
    FROM (SELECT * FROM runs {condition}) AS runs, LATERAL (
        SELECT count(*) AS finished, count(*) FILTER (WHERE trials.passed = 1) AS passed,
            count(*) FILTER (WHERE ending IN ('aborted', 'unfunded')) AS aborted
        FROM trials WHERE trials.run = runs.run) AS counts
    ORDER BY runs.run DESC")
}

impl RunTable for PgEngine {
    fn begin_run(&self, run: &NewRun<'_>) -> Result<i64, StoreError> {
        let (claim, plan) = run.to_json()?;
        let sql = "INSERT INTO runs (id, started, format, workspace, claim, settings, plan, planned, budget)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING run";
        let params: Vec<PgParam> = vec![
            Box::new(encode(run.id)),
            Box::new(encode(run.started)),
            Box::new(i64::from(RECORD_FORMAT)),
            Box::new(run.workspace.as_str().to_owned()),
            Box::new(encode(&claim)),
            Box::new(encode(run.settings)),
            Box::new(plan.as_deref().map(encode)),
            Box::new(number(run.planned)?),
            Box::new(run.budget.map(number).transpose()?),
        ];
        let rows = self.connection.commit(vec![PgStatement { sql, params }])?;
        let row = rows.first().and_then(|rows| rows.first());
        get(row.ok_or_else(|| PgFault::new(PgFaultKind::Statement, "the server returned no key"))?, 0)
    }

    fn set_verdicts(&self, run: i64, verdicts: &str, record: Option<&str>, ended: Option<&str>) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET verdicts = $2, record = $3, ended = $4 WHERE run = $1";
        let params: Vec<PgParam> =
            vec![Box::new(run), Box::new(encode(verdicts)), Box::new(record.map(encode)), Box::new(ended.map(encode))];
        self.connection.query(sql, params).map(drop)
    }

    fn set_run_id(&self, run: i64, id: &str) -> Result<(), StoreError> {
        let params: Vec<PgParam> = vec![Box::new(run), Box::new(encode(id))];
        self.connection.query("UPDATE runs SET id = $2 WHERE run = $1", params).map(drop)
    }

    fn set_budget(&self, run: i64, nanos: Option<u64>) -> Result<(), StoreError> {
        let params: Vec<PgParam> = vec![Box::new(run), Box::new(nanos.map(number).transpose()?)];
        self.connection.query("UPDATE runs SET budget = $2 WHERE run = $1", params).map(drop)
    }

    fn find_runs(&self, query: RunQuery<'_>) -> Result<Vec<RunColumns>, StoreError> {
        let (condition, params): (&str, Vec<PgParam>) = match query {
            RunQuery::All | RunQuery::Listed => ("", vec![]),
            RunQuery::Key(run) => ("WHERE run = $1", vec![Box::new(run)]),
            RunQuery::Before(before, most) => {
                let most = i64::try_from(most).unwrap_or(i64::MAX);
                ("WHERE run < $1 ORDER BY run DESC LIMIT $2", vec![Box::new(before), Box::new(most)])
            }
            RunQuery::Prefix(prefix) => {
                // Ids first: they have an index.
                let by_id = "WHERE id >= $1 AND id < $1 || '~' ORDER BY run DESC LIMIT 1";
                let found = self.read_runs(WHOLE_PLAN, by_id, vec![Box::new(encode(prefix))])?;
                if !found.is_empty() {
                    return Ok(found);
                }
                ("WHERE starts_with(record, $1) ORDER BY run DESC LIMIT 1", vec![Box::new(encode(prefix))])
            }
        };
        let plan = if let RunQuery::Listed = query { SHORT_PLAN } else { WHOLE_PLAN };
        self.read_runs(plan, condition, params)
    }

    fn verdicts(&self, run: i64) -> Result<Option<String>, StoreError> {
        let rows = self.connection.query("SELECT verdicts FROM runs WHERE run = $1", vec![Box::new(run)])?;
        let missing = || PgFault::new(PgFaultKind::Statement, format!("there is no run with the key {run}"));
        get_optional_text(rows.first().ok_or_else(missing)?, 0)
    }

    fn verdicts_by_run(&self, runs: &[i64]) -> Result<HashMap<i64, String>, StoreError> {
        let sql = "SELECT run, verdicts FROM runs WHERE run = ANY ($1) AND verdicts IS NOT NULL";
        let rows = self.connection.query(sql, vec![Box::new(runs.to_vec())])?;
        rows.iter().map(|row| Ok((get(row, 0)?, get_text(row, 1)?))).collect()
    }

    fn remove_run(&self, run: i64) -> Result<(), StoreError> {
        let delete = |sql| PgStatement { sql, params: vec![Box::new(run)] };
        let batch = vec![
            delete("DELETE FROM trials WHERE run = $1"),
            delete("DELETE FROM agent_output WHERE run = $1"),
            delete("DELETE FROM calls WHERE run = $1"),
            delete("DELETE FROM telemetry WHERE run = $1"),
            delete("DELETE FROM jobs WHERE run = $1"),
            delete("DELETE FROM runs WHERE run = $1"),
        ];
        self.connection.commit(batch).map(drop)
    }

    fn lock_run(&self, id: &str) -> Result<RunLock, StoreError> {
        let key = lock_key(id);
        let locked = self.connection.run(move |session| {
            Box::pin(async move {
                session.client().await?;
                for _ in 1..LOCK_ATTEMPTS {
                    if session.lock(key).await? {
                        return Ok(true);
                    }
                    tokio::time::sleep(LOCK_PAUSE).await;
                }
                session.lock(key).await
            })
        })?;
        if !locked {
            return Err(StoreError::InUse { id: id.to_owned() });
        }
        let sender = self.connection.sender()?;
        Ok(RunLock::new(move || sender.send(move |session| Box::pin(async move { session.unlock(key).await }))))
    }

    /// The server reuses the space by itself.
    fn shrink(&self) {}
}

impl PgEngine {
    /// Returns a run without the cases of its plan.
    pub(super) fn find_listed_run(&self, run: i64) -> Result<Option<RunColumns>, StoreError> {
        Ok(self.read_runs(SHORT_PLAN, "WHERE run = $1", vec![Box::new(run)])?.pop())
    }

    fn read_runs(&self, plan: &str, condition: &str, params: Vec<PgParam>) -> Result<Vec<RunColumns>, StoreError> {
        self.connection.query(select_runs(plan, condition), params)?.iter().map(read_run).collect()
    }
}

/// Returns the key of the advisory lock of a run, from the first bytes of a hash of its id.
fn lock_key(id: &str) -> i64 {
    let hash = model::ContentHash::of_text(&format!("bardo-eval run {id}"));
    hash.as_str().get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default().cast_signed()
}

fn read_run(row: &Row) -> Result<RunColumns, StoreError> {
    let format: i64 = get(row, 4)?;
    let subjects: Option<Vec<String>> = get(row, 16)?;
    let subjects = subjects.map(|names| names.iter().map(|name| super::text::decode(name).into_owned()).collect::<Vec<_>>());
    Ok(RunColumns {
        run: get(row, 0)?,
        id: get_text(row, 1)?,
        started: get_text(row, 2)?,
        ended: get_optional_text(row, 3)?,
        format: u32::try_from(format).map_err(|error| StoreError::unreadable("format", &error))?,
        workspace: get_text(row, 5)?,
        claim: get_text(row, 6)?,
        settings: get_text(row, 7)?,
        plan: get_optional_text(row, 8)?,
        planned: get_count(row, 9)?,
        budget: get::<Option<i64>>(row, 10)?.map(|_| get_count(row, 10)).transpose()?,
        record: get_optional_text(row, 11)?,
        finished: get_count(row, 12)?,
        passed: get_count(row, 13)?,
        spent: get_count(row, 14)?,
        aborted: get_count(row, 15)?,
        subjects: subjects.map(|names| serde_json::Value::from(names).to_string()),
    })
}
