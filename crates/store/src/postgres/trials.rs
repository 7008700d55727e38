//! Trials, output of agents and counters in PostgreSQL.

use super::PgEngine;
use super::group::commit_trials;
use super::session::{PgParam, PgStatement};
use super::text::{decode, encode, get, get_count, get_text, number};
use crate::browse::ListingQuery;
use crate::engine::{TakeTrial, TrialTable};
use crate::selection::TrialSelection;
use crate::transcripts::{TrialColumn, TrialTexts, parse_trial_id};
use crate::{AgentOutput, StoreError, TrialListing, TrialMatches, TrialPosition, TrialRow, UnreadTrial};
use model::Trial;
use std::borrow::Cow;
use tokio_postgres::Row;

/// Rows of one portion. Readers go on after the last position, so that a portion holds no cursor and no transaction open.
const PORTION: i64 = 128;
/// Rows of a portion without events.
const SMALL_PORTION: i64 = 1024;

const SELECT_TRIALS: &str = "SELECT n, trial, case_id, subject, seed, wall_us, passed, how, scores, content, events FROM trials
    WHERE run = $1 AND n >= $2 AND n < $3 ORDER BY n LIMIT $4";
const SELECT_ENDED: &str = "SELECT n, trial, case_id, subject, seed, wall_us, passed, how, scores, content FROM trials
    WHERE run = $1 AND n >= $2 AND n < $3 ORDER BY n LIMIT $4";

/// Row of a portion.
struct PgRow<'r>(&'r Row);

impl TrialTexts for PgRow<'_> {
    fn text(&self, column: TrialColumn) -> Result<Cow<'_, str>, StoreError> {
        let index = match column {
            TrialColumn::Ending => 7,
            TrialColumn::Scores => 8,
            TrialColumn::Content => 9,
            TrialColumn::Events => 10,
        };
        Ok(decode(get(self.0, index)?))
    }
}

impl TrialTable for PgEngine {
    fn add_trials(&self, rows: &[TrialRow]) -> Result<(), StoreError> {
        commit_trials(&self.connection, rows)
    }

    fn remove_trials_from(&self, run: i64, n: u64) -> Result<(), StoreError> {
        let n = number(n)?;
        let delete = |sql| PgStatement { sql, params: vec![Box::new(run), Box::new(n)] };
        let batch =
            vec![delete("DELETE FROM trials WHERE run = $1 AND n >= $2"), delete("DELETE FROM agent_output WHERE run = $1 AND n >= $2")];
        self.connection.commit(batch).map(drop)
    }

    fn for_each_trial(&self, selection: &TrialSelection, take: TakeTrial<'_>) -> Result<(), StoreError> {
        let (run, end) = (selection.run, i64::try_from(selection.positions.end).unwrap_or(i64::MAX));
        let mut from = number(selection.positions.start)?;
        let (sql, portion) = if selection.with_events { (SELECT_TRIALS, PORTION) } else { (SELECT_ENDED, SMALL_PORTION) };
        loop {
            let params: Vec<PgParam> = vec![Box::new(run), Box::new(from), Box::new(end), Box::new(portion)];
            let rows = self.connection.query(sql, params)?;
            for row in &rows {
                let trial = Trial {
                    id: parse_trial_id(get(row, 1)?)?,
                    case: get_text(row, 2)?,
                    subject: get_text(row, 3)?,
                    seed: get_count(row, 4)?,
                };
                let passed: Option<i16> = get(row, 6)?;
                let (n, wall_us, passed) = (get_count(row, 0)?, get_count(row, 5)?, passed.map(|passed| passed != 0));
                take(&UnreadTrial { run, n, trial, wall_us, passed, texts: &PgRow(row) })?;
            }
            match rows.last() {
                Some(last) if rows.len() as i64 == portion => from = get::<i64>(last, 0)? + 1,
                Some(_) | None => return Ok(()),
            }
        }
    }

    fn find_trials(&self, run: i64, case: &str, id_prefix: Option<&str>, most: usize) -> Result<TrialMatches, StoreError> {
        let sql =
            "SELECT n, trial, count(*) OVER () FROM trials WHERE run = $1 AND (case_id = $2 OR starts_with(trial, $3)) ORDER BY n LIMIT $4";
        let limit = i64::try_from(most).unwrap_or(i64::MAX).max(1);
        let params: Vec<PgParam> = vec![Box::new(run), Box::new(encode(case)), Box::new(id_prefix.map(encode)), Box::new(limit)];
        let mut found = TrialMatches::default();
        for row in &self.connection.query(sql, params)? {
            found.count = usize::try_from(get_count(row, 2)?).unwrap_or(usize::MAX);
            found.first.push(TrialPosition { n: get_count(row, 0)?, id: parse_trial_id(get(row, 1)?)? });
        }
        found.first.truncate(most);
        Ok(found)
    }

    fn cases_of_run(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let rows = self.connection.query("SELECT DISTINCT case_id FROM trials WHERE run = $1 ORDER BY 1", vec![Box::new(run)])?;
        rows.iter().map(|row| get_text(row, 0)).collect()
    }

    fn subjects_by_first_trial(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT subject FROM trials WHERE run = $1 GROUP BY subject ORDER BY min(n)";
        self.connection.query(sql, vec![Box::new(run)])?.iter().map(|row| get_text(row, 0)).collect()
    }

    fn list_trials(&self, query: &ListingQuery<'_>) -> Result<Vec<TrialListing>, StoreError> {
        self.read_listing(query)
    }

    fn agent_outputs(&self, run: i64, from: u64, most: usize) -> Result<Vec<(u64, AgentOutput)>, StoreError> {
        let sql = "SELECT n, stdout_bytes, stderr FROM agent_output WHERE run = $1 AND n >= $2 ORDER BY n LIMIT $3";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = self.connection.query(sql, vec![Box::new(run), Box::new(number(from)?), Box::new(most)])?;
        let read = |row| Ok((get_count(row, 0)?, AgentOutput { stdout_bytes: get_count(row, 1)?, stderr: get_text(row, 2)? }));
        rows.iter().map(read).collect()
    }

    fn add_telemetry(&self, run: i64, what: &str, n: u64) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO telemetry (run, what, n) VALUES ($1, $2, $3) ON CONFLICT (run, what) DO UPDATE SET n = telemetry.n + excluded.n";
        let params: Vec<PgParam> = vec![Box::new(run), Box::new(encode(what)), Box::new(number(n)?)];
        self.connection.commit(vec![PgStatement { sql, params }]).map(drop)
    }

    fn telemetry(&self, run: i64) -> Result<Vec<(String, u64)>, StoreError> {
        let rows = self.connection.query("SELECT what, n FROM telemetry WHERE run = $1 ORDER BY what", vec![Box::new(run)])?;
        rows.iter().map(|row| Ok((get_text(row, 0)?, get_count(row, 1)?))).collect()
    }
}
