//! Pages of trials in PostgreSQL.

use super::PgEngine;
use super::session::PgParam;
use super::text::{encode, get, get_count, get_text, number};
use crate::browse::like_pattern;
use crate::{StoreError, StoredOutcome, TrialFilter, TrialListing, TrialPage};
use tokio_postgres::Row;

const SELECT_LISTING: &str = r"
    SELECT n, trial, case_id, subject, seed, passed, ending, wall_us,
        (SELECT least(coalesce(sum((cost + lost)::numeric), 0), 9e18)::bigint FROM calls WHERE calls.run = trials.run AND calls.trial = trials.trial)
    FROM trials
    WHERE run = $1 AND n >= $2
        AND ($3 = '' OR strpos(case_id, $3) > 0)
        AND ($4 = '' OR subject = $4)
        AND ($5 = ''
            OR ($5 = 'aborted' AND ending IN ('aborted', 'unfunded'))
            OR (ending NOT IN ('aborted', 'unfunded') AND CASE $5 WHEN 'passed' THEN passed = 1 WHEN 'failed' THEN passed = 0 WHEN 'unjudged' THEN passed IS NULL END))
        AND ($6::text[] IS NULL OR case_id = ANY ($6))
        AND ($7 = '' OR events ILIKE $7)
        AND ($8 = '' OR EXISTS (SELECT 1 FROM jsonb_array_elements(parse_json(scores)) AS score (value)
            WHERE value ->> 'scorer' = $8 AND (value #>> '{reading,tally,hit}')::numeric < (value #>> '{reading,tally,of}')::numeric))
    ORDER BY n LIMIT $9";

impl PgEngine {
    pub(super) fn read_page(&self, run: i64, filter: &TrialFilter, from: u64, most: usize) -> Result<TrialPage, StoreError> {
        let cases = filter.cases.as_ref().map(|cases| cases.iter().map(|case| encode(case)).collect::<Vec<_>>());
        let params: Vec<PgParam> = vec![
            Box::new(run),
            Box::new(number(from)?),
            Box::new(encode(&filter.case)),
            Box::new(encode(&filter.subject)),
            Box::new(filter.outcome.map_or("", StoredOutcome::word)),
            Box::new(cases),
            Box::new(encode(&like_pattern(&filter.text))),
            Box::new(encode(&filter.scorer)),
            Box::new(i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1)),
        ];
        let rows = self.connection.query(SELECT_LISTING, params)?;
        Ok(TrialPage::new(rows.iter().map(read_listing).collect::<Result<_, _>>()?, most))
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
