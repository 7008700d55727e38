//! Trials, output of agents and counters in SQLite.

use super::SqliteEngine;
use crate::browse::ListingQuery;
use crate::engine::{TakeTrial, TrialTable};
use crate::selection::TrialSelection;
use crate::transcripts::{TrialColumn, TrialTexts, parse_trial_id};
use crate::{AgentOutput, StoreError, TrialListing, TrialMatches, TrialPosition, TrialRow, UnreadTrial};
use model::Trial;
use rusqlite::{Connection, Row, params};
use std::borrow::Cow;

const SELECT_TRIALS: &str = "SELECT n, trial, case_id, subject, seed, wall_us, passed, how, scores, content, events FROM trials
    WHERE run = ?1 AND n >= ?2 AND n < ?3 ORDER BY n";

/// Row of [`SELECT_TRIALS`]. SQLite reads the pages of a column when the column is.
struct SqliteRow<'r>(&'r Row<'r>);

impl TrialTexts for SqliteRow<'_> {
    fn text(&self, column: TrialColumn) -> Result<Cow<'_, str>, StoreError> {
        let index = match column {
            TrialColumn::Ending => 7,
            TrialColumn::Scores => 8,
            TrialColumn::Content => 9,
            TrialColumn::Events => 10,
        };
        let text = self.0.get_ref(index)?.as_str().map_err(rusqlite::Error::from)?;
        Ok(Cow::Borrowed(text))
    }
}

impl TrialTable for SqliteEngine {
    fn add_trials(&self, rows: &[TrialRow]) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        for row in rows {
            insert_trial(&transaction, row)?;
        }
        Ok(transaction.commit()?)
    }

    fn remove_trials_from(&self, run: i64, n: u64) -> Result<(), StoreError> {
        for table in ["trials", "agent_output"] {
            self.connection.execute(&format!("DELETE FROM {table} WHERE run = ?1 AND n >= ?2"), params![run, n])?;
        }
        Ok(())
    }

    fn for_each_trial(&self, selection: &TrialSelection, take: TakeTrial<'_>) -> Result<(), StoreError> {
        let TrialSelection { run, positions, .. } = selection;
        let mut rows = self.connection.prepare_cached(SELECT_TRIALS)?;
        let mut rows = rows.query(params![run, positions.start, positions.end])?;
        while let Some(row) = rows.next()? {
            let id: String = row.get(1)?;
            let trial = Trial { id: parse_trial_id(&id)?, case: row.get(2)?, subject: row.get(3)?, seed: row.get(4)? };
            let (n, wall_us, passed) = (row.get(0)?, row.get(5)?, row.get(6)?);
            take(&UnreadTrial { run: *run, n, trial, wall_us, passed, texts: &SqliteRow(row) })?;
        }
        Ok(())
    }

    fn find_trials(&self, run: i64, case: &str, id_prefix: Option<&str>, most: usize) -> Result<TrialMatches, StoreError> {
        let sql = "SELECT n, trial FROM trials WHERE run = ?1 AND (case_id = ?2 OR substr(trial, 1, length(?3)) = ?3) ORDER BY n";
        let mut rows = self.connection.prepare_cached(sql)?;
        let mut rows = rows.query(params![run, case, id_prefix])?;
        let mut found = TrialMatches::default();
        while let Some(row) = rows.next()? {
            found.count += 1;
            if found.first.len() < most {
                let id: String = row.get(1)?;
                found.first.push(TrialPosition { n: row.get(0)?, id: parse_trial_id(&id)? });
            }
        }
        Ok(found)
    }

    fn cases_of_run(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let mut rows = self.connection.prepare_cached("SELECT DISTINCT case_id FROM trials WHERE run = ?1 ORDER BY 1")?;
        let cases = rows.query_map([run], |row| row.get(0))?;
        Ok(cases.collect::<Result<_, _>>()?)
    }

    fn subjects_by_first_trial(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let mut rows = self.connection.prepare_cached("SELECT subject FROM trials WHERE run = ?1 GROUP BY subject ORDER BY min(n)")?;
        let subjects = rows.query_map([run], |row| row.get(0))?;
        Ok(subjects.collect::<Result<_, _>>()?)
    }

    fn list_trials(&self, query: &ListingQuery<'_>) -> Result<Vec<TrialListing>, StoreError> {
        self.read_listing(query)
    }

    fn agent_outputs(&self, run: i64, from: u64, most: usize) -> Result<Vec<(u64, AgentOutput)>, StoreError> {
        let sql = "SELECT n, stdout_bytes, stderr FROM agent_output WHERE run = ?1 AND n >= ?2 ORDER BY n LIMIT ?3";
        let mut rows = self.connection.prepare_cached(sql)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let outputs = rows
            .query_map(params![run, from, most], |row| Ok((row.get(0)?, AgentOutput { stdout_bytes: row.get(1)?, stderr: row.get(2)? })))?;
        Ok(outputs.collect::<Result<_, _>>()?)
    }

    fn add_telemetry(&self, run: i64, what: &str, n: u64) -> Result<(), StoreError> {
        add_telemetry(&self.connection, run, what, n)
    }

    fn telemetry(&self, run: i64) -> Result<Vec<(String, u64)>, StoreError> {
        let mut rows = self.connection.prepare("SELECT what, n FROM telemetry WHERE run = ?1 ORDER BY what")?;
        let counts = rows.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(counts.collect::<Result<_, _>>()?)
    }
}

pub(super) fn add_telemetry(connection: &Connection, run: i64, what: &str, n: u64) -> Result<(), StoreError> {
    let sql = "INSERT INTO telemetry (run, what, n) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET n = n + excluded.n";
    connection.prepare_cached(sql)?.execute(params![run, what, n])?;
    Ok(())
}

pub(super) fn insert_trial(connection: &Connection, row: &TrialRow) -> Result<(), StoreError> {
    let TrialRow { run, n, trial, wall_us, transcript: written, scores, output, .. } = row;
    let sql = "INSERT OR REPLACE INTO trials (run, n, trial, case_id, subject, seed, passed, content, wall_us, how, scores, events)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    connection.prepare_cached(sql)?.execute(params![
        run,
        n,
        trial.id.as_str(),
        trial.case,
        trial.subject,
        trial.seed,
        row.passed_column(),
        written.content_hash.as_str(),
        wall_us,
        written.ending,
        scores,
        written.events
    ])?;
    replace_output(connection, (*run, *n), output.as_ref())
}

/// Replaces the output of a trial, which may have been run before.
fn replace_output(connection: &Connection, (run, n): (i64, u64), output: Option<&AgentOutput>) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM agent_output WHERE run = ?1 AND n = ?2")?.execute(params![run, n])?;
    if let Some(AgentOutput { stdout_bytes, stderr }) = output {
        let sql = "INSERT INTO agent_output (run, n, stdout_bytes, stderr) VALUES (?1, ?2, ?3, ?4)";
        connection.prepare_cached(sql)?.execute(params![run, n, stdout_bytes, stderr])?;
    }
    Ok(())
}
