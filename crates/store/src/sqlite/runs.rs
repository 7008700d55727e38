//! Runs in SQLite.

use super::SqliteEngine;
use super::lock::lock_file;
use crate::engine::RunTable;
use crate::runs::RunColumns;
use crate::selection::RunQuery;
use crate::{NewRun, RunLock, StoreError};
use model::RECORD_FORMAT;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use std::collections::HashMap;

impl RunTable for SqliteEngine {
    fn begin_run(&self, run: &NewRun<'_>) -> Result<i64, StoreError> {
        insert_run(&self.connection, run)
    }

    fn set_verdicts(&self, run: i64, verdicts: &str, record: Option<&str>, ended: Option<&str>) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE runs SET verdicts = ?2, record = ?3, ended = ?4 WHERE run = ?1", params![run, verdicts, record, ended])?;
        Ok(())
    }

    fn set_run_id(&self, run: i64, id: &str) -> Result<(), StoreError> {
        self.connection.execute("UPDATE runs SET id = ?2 WHERE run = ?1", params![run, id])?;
        Ok(())
    }

    fn set_budget(&self, run: i64, nanos: Option<u64>) -> Result<(), StoreError> {
        self.connection.execute("UPDATE runs SET budget = ?2 WHERE run = ?1", params![run, nanos])?;
        Ok(())
    }

    fn find_runs(&self, query: RunQuery<'_>) -> Result<Vec<RunColumns>, StoreError> {
        match query {
            RunQuery::All => self.select_runs("ORDER BY run DESC", &[]),
            RunQuery::Listed => self.read_runs(SHORT_PLAN, "ORDER BY run DESC", &[]),
            RunQuery::Key(run) => self.select_runs("WHERE run = ?1", &[&run]),
            RunQuery::Before(before, most) => {
                let most = i64::try_from(most).unwrap_or(i64::MAX);
                self.select_runs("WHERE run < ?1 ORDER BY run DESC LIMIT ?2", &[&before, &most])
            }
            RunQuery::Prefix(prefix) => {
                // Ids first: they have an index, and the hash of a record comes after the plan in a row.
                let by_id = self.select_runs("WHERE id >= ?1 AND id < ?1 || '~' ORDER BY run DESC LIMIT 1", &[&prefix])?;
                if !by_id.is_empty() {
                    return Ok(by_id);
                }
                self.select_runs("WHERE substr(record, 1, length(?1)) = ?1 ORDER BY run DESC LIMIT 1", &[&prefix])
            }
        }
    }

    fn verdicts(&self, run: i64) -> Result<Option<String>, StoreError> {
        Ok(self.connection.query_row("SELECT verdicts FROM runs WHERE run = ?1", [run], |row| row.get(0))?)
    }

    fn verdicts_by_run(&self, runs: &[i64]) -> Result<HashMap<i64, String>, StoreError> {
        // A statement costs little here.
        let mut statement = self.connection.prepare_cached("SELECT verdicts FROM runs WHERE run = ?1")?;
        let mut found = HashMap::new();
        for run in runs {
            // A run that was removed since it was listed has none.
            let text: Option<Option<String>> = statement.query_row([run], |row| row.get(0)).optional()?;
            found.extend(text.flatten().map(|text| (*run, text)));
        }
        Ok(found)
    }

    fn remove_run(&self, run: i64) -> Result<(), StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        for table in ["trials", "agent_output", "calls", "telemetry", "runs"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
        }
        Ok(transaction.commit()?)
    }

    fn lock_run(&self, id: &str) -> Result<RunLock, StoreError> {
        self.path.as_deref().map_or_else(|| Ok(RunLock::unneeded()), |path| lock_file(path, id))
    }

    fn shrink(&self) {
        drop(self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);"));
    }
}

impl SqliteEngine {
    fn select_runs(&self, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<RunColumns>, StoreError> {
        self.read_runs(WHOLE_PLAN, condition, values)
    }

    fn read_runs(&self, plan: &str, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<RunColumns>, StoreError> {
        let mut rows = self.connection.prepare_cached(&format!("{} {condition}", columns_of_runs(plan)))?;
        let rows = rows.query_map(values, read_run)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

pub(super) fn insert_run(connection: &Connection, run: &NewRun<'_>) -> Result<i64, StoreError> {
    let (claim, plan) = run.to_json()?;
    connection.execute(
        "INSERT INTO runs (id, started, format, workspace, claim, settings, plan, planned, budget) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![run.id, run.started, RECORD_FORMAT, run.workspace.as_str(), claim, run.settings, plan, run.planned, run.budget],
    )?;
    Ok(connection.last_insert_rowid())
}

/// Plan of a run, and the same without its cases, which are most of it. A plan is written with the cases first.
const WHOLE_PLAN: &str = "plan";
const SHORT_PLAN: &str = r#"CASE WHEN instr(plan, '{"cases":') = 1 AND instr(plan, '"subjects":') > 0
    THEN '{"cases":[],' || substr(plan, instr(plan, '"subjects":')) ELSE plan END"#;

fn columns_of_runs(plan: &str) -> String {
    format!(
        "
    SELECT run, id, started, ended, format, workspace, claim, settings, {plan}, planned, budget, record,
        (SELECT count(*) FROM trials WHERE trials.run = runs.run),
        (SELECT count(*) FROM trials WHERE trials.run = runs.run AND passed),
        (SELECT CAST(min(total(lost + CASE state WHEN 'reserved' THEN ceiling ELSE cost END), 9e18) AS INTEGER) FROM calls WHERE calls.run = runs.run),
        (SELECT count(*) FROM trials WHERE trials.run = runs.run AND ending IN ('aborted', 'unfunded')),
        CASE WHEN plan IS NULL THEN
            (SELECT json_group_array(subject) FROM (SELECT subject FROM trials WHERE trials.run = runs.run GROUP BY subject ORDER BY min(n)))
        END
    FROM runs"
    )
}

fn read_run(row: &Row<'_>) -> rusqlite::Result<RunColumns> {
    Ok(RunColumns {
        run: row.get(0)?,
        id: row.get(1)?,
        started: row.get(2)?,
        ended: row.get(3)?,
        format: row.get(4)?,
        workspace: row.get(5)?,
        claim: row.get(6)?,
        settings: row.get(7)?,
        plan: row.get(8)?,
        planned: row.get(9)?,
        budget: row.get(10)?,
        record: row.get(11)?,
        finished: row.get(12)?,
        passed: row.get(13)?,
        spent: row.get(14)?,
        aborted: row.get(15)?,
        subjects: row.get(16)?,
    })
}
