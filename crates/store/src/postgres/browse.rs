//! Pages of trials in PostgreSQL.

use super::PgEngine;
use super::session::PgParam;
use super::text::{encode, get, get_count, get_text};
use crate::browse::{ListingQuery, like_pattern, signed};
use crate::engine::BrowseTable;
use crate::{StoreError, StoredOutcome, TrialListing};
use tokio_postgres::Row;

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

/// The defaults read more than a query of this engine would, and are what the viewer needs rarely.
impl BrowseTable for PgEngine {}

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
