//! Pages of trials in SQLite.

use super::SqliteEngine;
use crate::browse::like_pattern;
use crate::{StoreError, StoredOutcome, TrialFilter, TrialListing, TrialPage};
use rusqlite::named_params;

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

impl SqliteEngine {
    pub(super) fn read_page(&self, run: i64, filter: &TrialFilter, from: u64, most: usize) -> Result<TrialPage, StoreError> {
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
            let ending: String = row.get(6)?;
            found.push(TrialListing {
                n: row.get(0)?,
                trial: row.get(1)?,
                case: row.get(2)?,
                subject: row.get(3)?,
                seed: row.get(4)?,
                outcome: TrialListing::outcome_of(row.get(5)?, &ending),
                ending,
                wall_us: row.get(7)?,
                cost: row.get(8)?,
            });
        }
        Ok(TrialPage::new(found, most))
    }
}
