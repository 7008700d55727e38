//! Pages of runs and trials for a reader that never holds a whole list. Pages follow a key, never an offset, so that late pages cost what early ones do.

use crate::runs::{SELECT_RUNS, read_run};
use crate::{Store, StoreError, StoredRun};
use rusqlite::{named_params, params};

/// Outcome of a trial as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredOutcome {
    Passed,
    Failed,
    Unjudged,
    /// Aborted or not funded.
    Aborted,
}

impl StoredOutcome {
    pub const ALL: &'static [(&'static str, StoredOutcome)] = &[
        ("passed", StoredOutcome::Passed),
        ("failed", StoredOutcome::Failed),
        ("unjudged", StoredOutcome::Unjudged),
        ("aborted", StoredOutcome::Aborted),
    ];

    pub fn word(self) -> &'static str {
        match self {
            StoredOutcome::Passed => "passed",
            StoredOutcome::Failed => "failed",
            StoredOutcome::Unjudged => "unjudged",
            StoredOutcome::Aborted => "aborted",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(text, _)| *text == word).map(|(_, outcome)| *outcome)
    }
}

/// Selection of trials. Empty texts select all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrialFilter {
    /// Part of the id of the case.
    pub case: String,
    pub subject: String,
    pub outcome: Option<StoredOutcome>,
    /// Scorer with a miss.
    pub scorer: String,
    /// Text in the events, without regard to the case of ASCII letters.
    pub text: String,
    /// Cases to choose from; absent for all.
    pub cases: Option<Vec<String>>,
}

/// Trial in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialListing {
    /// Position in the plan.
    pub n: u64,
    pub trial: String,
    pub case: String,
    pub subject: String,
    pub seed: u64,
    pub outcome: StoredOutcome,
    pub ending: String,
    pub wall_us: u64,
    /// Nano-dollars.
    pub cost: u64,
}

/// Row of one page, and whether there are more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialPage {
    pub rows: Vec<TrialListing>,
    pub has_more: bool,
}

const SELECT_LISTING: &str = "
    SELECT n, trial, case_id, subject, seed, passed, ending, wall_us,
        (SELECT CAST(min(total(cost + lost), 9e18) AS INTEGER) FROM calls WHERE calls.run = trials.run AND calls.trial = trials.trial)
    FROM trials
    WHERE run = :run AND n >= :from
        AND (:case = '' OR instr(case_id, :case))
        AND (:subject = '' OR subject = :subject)
        AND (:outcome = ''
            OR (:outcome = 'aborted' AND ending IN ('aborted', 'unfunded'))
            OR (ending NOT IN ('aborted', 'unfunded') AND CASE :outcome WHEN 'passed' THEN passed = 1 WHEN 'failed' THEN passed = 0 WHEN 'unjudged' THEN passed IS NULL END))
        AND (:cases IS NULL OR case_id IN (SELECT value FROM json_each(:cases)))
        AND (:text = '' OR events LIKE :text ESCAPE '\\')
        AND (:scorer = '' OR EXISTS (SELECT 1 FROM json_each(scores)
            WHERE value ->> '$.scorer' = :scorer AND (value ->> '$.reading.tally.hit') < (value ->> '$.reading.tally.of')))
    ORDER BY n LIMIT :most";

impl Store {
    /// Returns up to `most` runs that began before the run with this key, the last one first.
    pub fn runs_before(&self, before: Option<i64>, most: usize) -> Result<Vec<StoredRun>, StoreError> {
        let mut rows = self.connection.prepare_cached(&format!("{SELECT_RUNS} WHERE run < ?1 ORDER BY run DESC LIMIT ?2"))?;
        let mut rows = rows.query(params![before.unwrap_or(i64::MAX), i64::try_from(most).unwrap_or(i64::MAX)])?;
        let mut runs = vec![];
        while let Some(row) = rows.next()? {
            runs.push(read_run(row)?);
        }
        Ok(runs)
    }

    /// Finds the run whose id or record hash starts with `prefix`, the last one begun if there are several.
    pub fn run_with_prefix(&self, prefix: &str) -> Result<Option<StoredRun>, StoreError> {
        let sql =
            format!("{SELECT_RUNS} WHERE substr(id, 1, length(?1)) = ?1 OR substr(record, 1, length(?1)) = ?1 ORDER BY run DESC LIMIT 1");
        let mut rows = self.connection.prepare_cached(&sql)?;
        let mut rows = rows.query([prefix])?;
        rows.next()?.map(read_run).transpose()
    }

    /// Returns up to `most` trials of a run from position `from` on that pass the filter, in plan order.
    pub fn list_trials(&self, run: i64, filter: &TrialFilter, from: u64, most: usize) -> Result<TrialPage, StoreError> {
        let cases = filter.cases.as_ref().map(|cases| serde_json::Value::from(cases.clone()).to_string());
        let mut rows = self.connection.prepare_cached(SELECT_LISTING)?;
        let mut rows = rows.query(named_params! {
            ":run": run,
            ":from": from,
            ":case": filter.case,
            ":subject": filter.subject,
            ":outcome": filter.outcome.map_or("", StoredOutcome::word),
            ":cases": cases,
            ":text": like_pattern(&filter.text),
            ":scorer": filter.scorer,
            ":most": i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1),
        })?;
        let mut found = vec![];
        while let Some(row) = rows.next()? {
            let (passed, ending): (Option<bool>, String) = (row.get(5)?, row.get(6)?);
            let outcome = match passed {
                _ if matches!(ending.as_str(), "aborted" | "unfunded") => StoredOutcome::Aborted,
                Some(true) => StoredOutcome::Passed,
                Some(false) => StoredOutcome::Failed,
                None => StoredOutcome::Unjudged,
            };
            found.push(TrialListing {
                n: row.get(0)?,
                trial: row.get(1)?,
                case: row.get(2)?,
                subject: row.get(3)?,
                seed: row.get(4)?,
                outcome,
                ending,
                wall_us: row.get(7)?,
                cost: row.get(8)?,
            });
        }
        let has_more = found.len() > most;
        found.truncate(most);
        Ok(TrialPage { rows: found, has_more })
    }
}

/// Returns the pattern that finds a text in stored JSON; empty for an empty text.
fn like_pattern(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let quoted = serde_json::Value::from(text).to_string();
    let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let escaped: String = inner.chars().flat_map(|c| if matches!(c, '%' | '_' | '\\') { vec!['\\', c] } else { vec![c] }).collect();
    format!("%{escaped}%")
}

impl Store {
    /// Returns the costs in nano-dollars of the first `most` trials that cost something.
    pub fn trial_costs(&self, run: i64, most: usize) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT CAST(min(total(cost + lost), 9e18) AS INTEGER) AS spent FROM calls WHERE run = ?1 GROUP BY trial HAVING spent > 0 LIMIT ?2";
        let mut rows = self.connection.prepare_cached(sql)?;
        let costs = rows.query_map(params![run, i64::try_from(most).unwrap_or(i64::MAX)], |row| row.get(0))?;
        Ok(costs.collect::<Result<_, _>>()?)
    }
}
