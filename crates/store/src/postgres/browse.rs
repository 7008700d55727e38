//! Pages of trials in PostgreSQL.

use super::calls::read_call;
use super::session::PgParam;
use super::text::{encode, get, get_count, get_optional_text, get_text};
use super::{CompleteRun, PgEngine};
use crate::browse::{ListingQuery, like_pattern, signed};
use crate::call_row::CallRow;
use crate::engine::{BrowseTable, TakeText};
use crate::selection::{RunHead, TrialText};
use crate::{RunCounts, StoreError, StoredOutcome, TrialListing};
use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};
use tokio_postgres::Row;

/// Most complete runs whose counters are kept in memory.
const MAX_COMPLETE_RUNS: usize = 10_000;

const SELECT_LISTING: &str = r"
    SELECT n, trial, case_id, subject, seed, passed, ending, wall_us,
        (SELECT least(coalesce(sum((cost + lost)::numeric), 0), 9e18)::bigint FROM calls WHERE calls.run = trials.run AND calls.trial = trials.trial)
    FROM trials
    WHERE run = $1 AND n >= $2 AND n < $10
        AND ($11::bigint[] IS NULL OR n = ANY ($11))
        AND wall_us BETWEEN $12 AND $13
        AND ($3 = '' OR strpos(case_id, $3) > 0)
        AND ($4 = '' OR subject = $4)
        AND ($5 = ''
            OR ($5 = 'aborted' AND ending IN ('aborted', 'unfunded'))
            OR (ending NOT IN ('aborted', 'unfunded') AND CASE $5 WHEN 'passed' THEN passed = 1 WHEN 'failed' THEN passed = 0 WHEN 'unjudged' THEN passed IS NULL END))
        AND ($6::text[] IS NULL OR case_id = ANY ($6))
        AND ($7 = '' OR events ILIKE $7)
        AND ($8 = '' OR EXISTS (SELECT 1 FROM jsonb_array_elements(parse_json(scores)) AS score (value)
            WHERE value ->> 'scorer' = $8 AND (value #>> '{reading,tally,hit}')::numeric < (value #>> '{reading,tally,of}')::numeric))
        AND ($14 = '' OR EXISTS (SELECT 1 FROM jsonb_array_elements(parse_json(events)) AS event (value) WHERE value #>> '{happened,called,tool}' = $14))
        AND ($15::bigint IS NULL OR (SELECT coalesce(sum((cost + lost)::numeric), 0) FROM calls
            WHERE calls.run = trials.run AND calls.trial = trials.trial) BETWEEN $15 AND $16::bigint)
    ORDER BY n LIMIT $9";

impl PgEngine {
    fn complete_runs(&self) -> MutexGuard<'_, HashMap<i64, CompleteRun>> {
        self.complete_runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn read_listing(&self, query: &ListingQuery<'_>) -> Result<Vec<TrialListing>, StoreError> {
        let filter = query.filter;
        let cases = filter.cases.as_ref().map(|cases| cases.iter().map(|case| encode(case)).collect::<Vec<_>>());
        let positions = query.positions.map(|positions| positions.iter().map(|n| signed(*n)).collect::<Vec<_>>());
        let has_cost = filter.least_cost.is_some() || filter.most_cost.is_some();
        let bound = |value: Option<u64>, otherwise: i64| value.map_or(otherwise, signed);
        let params: Vec<PgParam> = vec![
            Box::new(query.run),
            Box::new(signed(query.within.start)),
            Box::new(encode(&filter.case)),
            Box::new(encode(&filter.subject)),
            Box::new(filter.outcome.map_or("", StoredOutcome::word)),
            Box::new(cases),
            Box::new(encode(&like_pattern(&filter.terms.text))),
            Box::new(encode(&filter.terms.scorer)),
            Box::new(i64::try_from(query.most).unwrap_or(i64::MAX)),
            Box::new(signed(query.within.end)),
            Box::new(positions),
            Box::new(bound(filter.least_us, 0)),
            Box::new(bound(filter.most_us, i64::MAX)),
            Box::new(encode(&filter.terms.tool)),
            Box::new(has_cost.then(|| bound(filter.least_cost, 0))),
            Box::new(has_cost.then(|| bound(filter.most_cost, i64::MAX))),
        ];
        self.connection.query(SELECT_LISTING, params)?.iter().map(read_listing).collect()
    }
}

/// Texts of trials in one answer of the server, which bounds the memory of a reader.
const TEXTS: usize = 64;

impl BrowseTable for PgEngine {
    fn run_heads(&self, before: i64, most: usize) -> Result<Vec<RunHead>, StoreError> {
        let sql = "SELECT run, id, started, ended FROM runs WHERE run < $1 ORDER BY run DESC LIMIT $2";
        let rows = self.connection.query(sql, vec![Box::new(before), Box::new(i64::try_from(most).unwrap_or(i64::MAX))])?;
        let read =
            |row| Ok(RunHead { run: get(row, 0)?, id: get_text(row, 1)?, started: get_text(row, 2)?, ended: get_optional_text(row, 3)? });
        let heads = rows.iter().map(read).collect::<Result<Vec<RunHead>, StoreError>>()?;
        // A run that was removed or resumed since is counted again.
        let mut known = self.complete_runs();
        for head in &heads {
            if known.get(&head.run).is_some_and(|run| run.id != head.id || Some(&run.ended) != head.ended.as_ref()) {
                known.remove(&head.run);
            }
        }
        Ok(heads)
    }

    fn run_counts(&self, run: i64) -> Result<RunCounts, StoreError> {
        if let Some(complete) = self.complete_runs().get(&run) {
            return Ok(complete.counts.clone());
        }
        let Some(columns) = self.find_listed_run(run)? else { return Ok(RunCounts::default()) };
        let found = columns.parse()?;
        let counts = RunCounts {
            planned: found.planned,
            finished: found.finished,
            passed: found.passed,
            aborted: found.aborted,
            spent: found.spent,
            subjects: found.subjects,
        };
        if let Some(ended) = found.ended {
            let mut known = self.complete_runs();
            if known.len() >= MAX_COMPLETE_RUNS {
                known.clear();
            }
            known.insert(run, CompleteRun { id: found.id, ended, counts: counts.clone() });
        }
        Ok(counts)
    }

    fn run_id(&self, run: i64) -> Result<Option<String>, StoreError> {
        let rows = self.connection.query("SELECT id FROM runs WHERE run = $1", vec![Box::new(run)])?;
        rows.first().map(|row| get_text(row, 0)).transpose()
    }

    fn cases_at_ends(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let sql = "(SELECT case_id FROM trials WHERE run = $1 ORDER BY n LIMIT 20)
            UNION ALL (SELECT case_id FROM trials WHERE run = $1 ORDER BY n DESC LIMIT 20)";
        self.connection.query(sql, vec![Box::new(run)])?.iter().map(|row| get_text(row, 0)).collect()
    }

    fn trial_contents(&self, run: i64) -> Result<Vec<(u64, String)>, StoreError> {
        let rows = self.connection.query("SELECT n, content FROM trials WHERE run = $1 ORDER BY n", vec![Box::new(run)])?;
        rows.iter().map(|row| Ok((get_count(row, 0)?, get_text(row, 1)?))).collect()
    }

    fn for_each_text(&self, run: i64, positions: &[u64], take: TakeText<'_>) -> Result<(), StoreError> {
        let sql = "SELECT n, case_id, content, events, scores FROM trials WHERE run = $1 AND n = ANY ($2) ORDER BY n";
        for group in positions.chunks(TEXTS) {
            let group: Vec<i64> = group.iter().map(|n| signed(*n)).collect();
            for row in &self.connection.query(sql, vec![Box::new(run), Box::new(group)])? {
                let text =
                    TrialText { case: get_text(row, 1)?, content: get_text(row, 2)?, events: get_text(row, 3)?, scores: get_text(row, 4)? };
                take(get_count(row, 0)?, text)?;
            }
        }
        Ok(())
    }

    fn calls_of_trial(&self, run: i64, trial: &str, most: usize) -> Result<Vec<CallRow>, StoreError> {
        let sql = "SELECT trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply FROM calls
            WHERE run = $1 AND trial = $2 ORDER BY role DESC, n LIMIT $3";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.connection.query(sql, vec![Box::new(run), Box::new(encode(trial)), Box::new(most)])?.iter().map(read_call).collect()
    }
}

fn read_listing(row: &Row) -> Result<TrialListing, StoreError> {
    let (passed, ending): (Option<i16>, String) = (get(row, 5)?, get_text(row, 6)?);
    Ok(TrialListing {
        n: get_count(row, 0)?,
        trial: get_text(row, 1)?,
        case: get_text(row, 2)?,
        subject: get_text(row, 3)?,
        seed: get_count(row, 4)?,
        outcome: TrialListing::outcome_of(passed.map(|passed| passed != 0), &ending),
        ending,
        wall_us: get_count(row, 7)?,
        cost: get_count(row, 8)?,
    })
}
