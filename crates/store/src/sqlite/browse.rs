//! Pages of runs and trials in SQLite, and texts for the search index.

use super::SqliteEngine;
use crate::browse::{ListingQuery, like_pattern, signed};
use crate::call_row::CallRow;
use crate::engine::BrowseTable;
use crate::selection::{RunCounts, RunHead};
use crate::{StoreError, StoredOutcome, TrialListing};
use rusqlite::{OptionalExtension, Row, named_params, params};

const SELECT_LISTING: &str = "
    SELECT n, trial, case_id, subject, seed, passed, ending, wall_us,
        (SELECT CAST(min(total(cost + lost), 9e18) AS INTEGER) FROM calls WHERE calls.run = trials.run AND calls.trial = trials.trial) AS spent
    FROM trials
    WHERE run = :run AND n >= :from AND n < :end
        AND (:positions IS NULL OR n IN (SELECT value FROM json_each(:positions)))
        AND (:case = '' OR instr(case_id, :case))
        AND (:subject = '' OR subject = :subject)
        AND (:outcome = ''
            OR (:outcome = 'aborted' AND ending IN ('aborted', 'unfunded'))
            OR (ending NOT IN ('aborted', 'unfunded') AND CASE :outcome WHEN 'passed' THEN passed = 1 WHEN 'failed' THEN passed = 0 WHEN 'unjudged' THEN passed IS NULL END))
        AND (:cases IS NULL OR case_id IN (SELECT value FROM json_each(:cases)))
        AND wall_us BETWEEN :least_us AND :most_us
        AND (:scorer = '' OR EXISTS (SELECT 1 FROM json_each(scores)
            WHERE value ->> '$.scorer' = :scorer AND (value ->> '$.reading.tally.hit') < (value ->> '$.reading.tally.of')))
        AND (:tool = '' OR EXISTS (SELECT 1 FROM json_each(events) WHERE value ->> '$.happened.called.tool' = :tool))
        AND (:text = '' OR events LIKE :text ESCAPE '\\')
        AND (:any_cost OR spent BETWEEN :least_cost AND :most_cost)
    ORDER BY n LIMIT :most";

impl SqliteEngine {
    pub(super) fn read_listing(&self, query: &ListingQuery<'_>) -> Result<Vec<TrialListing>, StoreError> {
        let filter = query.filter;
        let bound = |value: Option<u64>, otherwise: i64| value.map_or(otherwise, signed);
        let mut rows = self.connection.prepare_cached(SELECT_LISTING)?;
        let mut rows = rows.query(named_params! {
            ":run": query.run,
            ":from": signed(query.within.start),
            ":end": signed(query.within.end),
            ":positions": query.positions.map(|positions| serde_json::Value::from(positions).to_string()),
            ":case": filter.case,
            ":subject": filter.subject,
            ":outcome": filter.outcome.map_or("", StoredOutcome::word),
            ":cases": filter.cases.as_ref().map(|cases| serde_json::Value::from(cases.clone()).to_string()),
            ":least_us": bound(filter.least_us, 0),
            ":most_us": bound(filter.most_us, i64::MAX),
            ":any_cost": filter.least_cost.is_none() && filter.most_cost.is_none(),
            ":least_cost": bound(filter.least_cost, 0),
            ":most_cost": bound(filter.most_cost, i64::MAX),
            ":text": like_pattern(&filter.terms.text),
            ":tool": filter.terms.tool,
            ":scorer": filter.terms.scorer,
            ":most": i64::try_from(query.most).unwrap_or(i64::MAX),
        })?;
        let mut found = vec![];
        while let Some(row) = rows.next()? {
            found.push(listing(row)?);
        }
        Ok(found)
    }
}

fn listing(row: &Row<'_>) -> Result<TrialListing, StoreError> {
    let ending: String = row.get(6)?;
    Ok(TrialListing {
        n: row.get(0)?,
        trial: row.get(1)?,
        case: row.get(2)?,
        subject: row.get(3)?,
        seed: row.get(4)?,
        outcome: TrialListing::outcome_of(row.get(5)?, &ending),
        ending,
        wall_us: row.get(7)?,
        cost: row.get(8)?,
    })
}

impl BrowseTable for SqliteEngine {
    fn run_heads(&self, before: i64, most: usize) -> Result<Vec<RunHead>, StoreError> {
        // Columns before the plan, which is the largest part of a row.
        let sql = "SELECT run, id, started, ended FROM runs WHERE run < ?1 ORDER BY run DESC LIMIT ?2";
        let mut rows = self.connection.prepare_cached(sql)?;
        let rows = rows.query_map(params![before, i64::try_from(most).unwrap_or(i64::MAX)], |row| {
            Ok(RunHead { run: row.get(0)?, id: row.get(1)?, started: row.get(2)?, ended: row.get(3)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn run_id(&self, run: i64) -> Result<Option<String>, StoreError> {
        Ok(self.connection.prepare_cached("SELECT id FROM runs WHERE run = ?1")?.query_row([run], |row| row.get(0)).optional()?)
    }

    fn run_counts(&self, run: i64) -> Result<RunCounts, StoreError> {
        let sql =
            "SELECT count(*), coalesce(sum(passed), 0), coalesce(sum(ending IN ('aborted', 'unfunded')), 0) FROM trials WHERE run = ?1";
        let (finished, passed, aborted) =
            self.connection.prepare_cached(sql)?.query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let sql = "SELECT CAST(min(total(lost + CASE state WHEN 'reserved' THEN ceiling ELSE cost END), 9e18) AS INTEGER) FROM calls WHERE run = ?1";
        let spent = self.connection.prepare_cached(sql)?.query_row([run], |row| row.get(0))?;
        let sql = "SELECT planned, CASE WHEN plan IS NULL
            THEN (SELECT json_group_array(subject) FROM (SELECT subject FROM trials WHERE trials.run = runs.run GROUP BY subject ORDER BY min(n)))
            ELSE (SELECT json_group_array(value ->> '$.subject') FROM json_each(plan, '$.subjects')) END FROM runs WHERE run = ?1";
        let found: Option<(u64, String)> =
            self.connection.prepare_cached(sql)?.query_row([run], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (planned, subjects) = found.unwrap_or_default();
        Ok(RunCounts { planned, finished, passed, aborted, spent, subjects: serde_json::from_str(&subjects).unwrap_or_default() })
    }

    fn cases_at_ends(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let mut cases = vec![];
        for order in ["ASC", "DESC"] {
            let sql = format!("SELECT case_id FROM trials WHERE run = ?1 ORDER BY n {order} LIMIT 20");
            let mut rows = self.connection.prepare_cached(&sql)?;
            let found = rows.query_map([run], |row| row.get::<_, String>(0))?;
            cases.extend(found.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(cases)
    }

    fn trial_contents(&self, run: i64) -> Result<Vec<(u64, String)>, StoreError> {
        let mut rows = self.connection.prepare_cached("SELECT n, content FROM trials WHERE run = ?1 ORDER BY n")?;
        let rows = rows.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn calls_of_trial(&self, run: i64, trial: &str, most: usize) -> Result<Vec<CallRow>, StoreError> {
        let sql = "SELECT trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply FROM calls
            WHERE run = ?1 AND trial = ?2 ORDER BY role DESC, n LIMIT ?3";
        let mut rows = self.connection.prepare_cached(sql)?;
        let rows = rows.query_map(params![run, trial, i64::try_from(most).unwrap_or(i64::MAX)], |row| {
            Ok(CallRow {
                trial: row.get(0)?,
                role: row.get(1)?,
                n: row.get(2)?,
                state: row.get(3)?,
                attempts: row.get(4)?,
                ceiling: row.get(5)?,
                cost: row.get(6)?,
                lost: row.get(7)?,
                waited_us: row.get(8)?,
                why: row.get(9)?,
                reply: row.get(10)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
