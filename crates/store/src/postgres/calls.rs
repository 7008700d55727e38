//! Model calls, their cost, and cached replies in PostgreSQL.

use super::PgEngine;
use super::group::commit_group;
use super::session::{PgParam, PgStatement};
use super::text::{encode, get, get_count, get_optional_text, get_text};
use crate::call_row::{CallRow, ORPHANED};
use crate::engine::CallTable;
use crate::{CallKey, CallStateCounts, JournalWrite, RoleSpending, StoreError};
use model::ContentHash;
use tokio_postgres::Row;

/// Calls of one portion of a copy.
const PORTION: i64 = 256;

const SELECT_CALLS: &str = "SELECT trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply FROM calls
    WHERE run = $1 AND (trial, role, n) > ($2, $3, $4) ORDER BY trial, role, n LIMIT $5";

impl CallTable for PgEngine {
    fn write(&self, writes: &[JournalWrite]) -> Result<(), StoreError> {
        commit_group(&self.connection, writes)
    }

    fn call_counts(&self, run: i64) -> Result<CallStateCounts, StoreError> {
        let sql = "SELECT count(*) FILTER (WHERE state = 'settled'), count(*) FILTER (WHERE state = 'reserved'),
            count(*) FILTER (WHERE state = 'failed'), coalesce(sum(attempts), 0)::bigint FROM calls WHERE run = $1";
        let rows = self.connection.query(sql, vec![Box::new(run)])?;
        let Some(row) = rows.first() else { return Ok(CallStateCounts::default()) };
        Ok(CallStateCounts {
            settled: get_count(row, 0)?,
            reserved: get_count(row, 1)?,
            failed: get_count(row, 2)?,
            attempts: get_count(row, 3)?,
        })
    }

    fn mean_latency_ms(&self, run: i64) -> Result<Option<f64>, StoreError> {
        let sql = "SELECT avg(waited_us)::double precision / 1000.0 FROM calls WHERE run = $1 AND state = 'settled'";
        self.connection.query(sql, vec![Box::new(run)])?.first().map_or(Ok(None), |row| get(row, 0))
    }

    fn settled_reply(&self, call: &CallKey) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT cost, reply FROM calls WHERE run = $1 AND trial = $2 AND role = $3 AND n = $4 AND state = 'settled'";
        let params: Vec<PgParam> =
            vec![Box::new(call.run), Box::new(call.trial.as_str().to_owned()), Box::new(call.role), Box::new(i64::from(call.n))];
        let rows = self.connection.query(sql, params)?;
        rows.first().map(|row| Ok((get_count(row, 0)?, get_text(row, 1)?))).transpose()
    }

    fn fail_reserved_calls(&self, run: i64) -> Result<usize, StoreError> {
        let sql = "WITH failed AS (UPDATE calls SET state = 'failed', lost = lost + ceiling, why = $2 WHERE run = $1 AND state = 'reserved' RETURNING 1)
            SELECT count(*) FROM failed";
        self.count_changed(PgStatement { sql, params: vec![Box::new(run), Box::new(ORPHANED)] })
    }

    fn cached_reply(&self, key: &ContentHash, not_before: i64) -> Result<Option<String>, StoreError> {
        let params: Vec<PgParam> = vec![Box::new(key.as_str().to_owned()), Box::new(not_before)];
        let rows = self.connection.query("SELECT reply FROM cache WHERE key = $1 AND at >= $2", params)?;
        rows.first().map(|row| get_text(row, 0)).transpose()
    }

    fn evict_replies_before(&self, before: i64) -> Result<usize, StoreError> {
        let sql = "WITH evicted AS (DELETE FROM cache WHERE at < $1 RETURNING 1) SELECT count(*) FROM evicted";
        self.count_changed(PgStatement { sql, params: vec![Box::new(before)] })
    }

    fn for_each_call(&self, run: i64, take: &mut dyn FnMut(CallRow) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let (mut trial, mut role, mut n) = (String::new(), String::new(), -1);
        loop {
            let params: Vec<PgParam> =
                vec![Box::new(run), Box::new(encode(&trial)), Box::new(encode(&role)), Box::new(n), Box::new(PORTION)];
            let rows = self.connection.query(SELECT_CALLS, params)?;
            for row in &rows {
                let call = read_call(row)?;
                (trial, role, n) = (call.trial.clone(), call.role.clone(), call.n);
                take(call)?;
            }
            if (rows.len() as i64) < PORTION {
                return Ok(());
            }
        }
    }

    fn insert_calls(&self, run: i64, calls: &[CallRow]) -> Result<(), StoreError> {
        let sql = "INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply)
            SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
                $10::bigint[], $11::text[], $12::text[])";
        let numbers = |of: fn(&CallRow) -> i64| -> PgParam { Box::new(calls.iter().map(of).collect::<Vec<i64>>()) };
        let texts =
            |of: fn(&CallRow) -> Option<&str>| -> PgParam { Box::new(calls.iter().map(|call| of(call).map(encode)).collect::<Vec<_>>()) };
        let params: Vec<PgParam> = vec![
            Box::new(run),
            texts(|call| Some(&call.trial)),
            texts(|call| Some(&call.role)),
            numbers(|call| call.n),
            texts(|call| Some(&call.state)),
            numbers(|call| call.attempts),
            numbers(|call| call.ceiling),
            numbers(|call| call.cost),
            numbers(|call| call.lost),
            Box::new(calls.iter().map(|call| call.waited_us).collect::<Vec<_>>()),
            texts(|call| call.why.as_deref()),
            texts(|call| call.reply.as_deref()),
        ];
        self.connection.commit(vec![PgStatement { sql, params }]).map(drop)
    }

    fn total_spending(&self, run: i64) -> Result<u64, StoreError> {
        let sql = "SELECT least(coalesce(sum((lost + CASE state WHEN 'reserved' THEN ceiling ELSE cost END)::numeric), 0), 9e18)::bigint
            FROM calls WHERE run = $1";
        self.connection.query(sql, vec![Box::new(run)])?.first().map_or(Ok(0), |row| get_count(row, 0))
    }

    fn spending(&self, run: i64) -> Result<Vec<RoleSpending>, StoreError> {
        let sql = "SELECT trials.case_id, trials.subject, calls.role, count(*),
                least(sum((calls.lost + CASE calls.state WHEN 'reserved' THEN calls.ceiling ELSE calls.cost END)::numeric), 9e18)::bigint
            FROM calls LEFT JOIN trials ON trials.run = calls.run AND trials.trial = calls.trial
            WHERE calls.run = $1 GROUP BY 1, 2, 3 ORDER BY 1 NULLS FIRST, 2 NULLS FIRST, 3";
        let rows = self.connection.query(sql, vec![Box::new(run)])?;
        rows.iter()
            .map(|row| {
                Ok(RoleSpending {
                    case: get_optional_text(row, 0)?,
                    subject: get_optional_text(row, 1)?,
                    role: get_text(row, 2)?,
                    calls: get_count(row, 3)?,
                    nanos: get_count(row, 4)?,
                })
            })
            .collect()
    }

    fn trial_costs(&self, run: i64, most: usize) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT least(sum((cost + lost)::numeric), 9e18)::bigint FROM calls WHERE run = $1 GROUP BY trial
            HAVING sum((cost + lost)::numeric) > 0 ORDER BY trial LIMIT $2";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.connection.query(sql, vec![Box::new(run), Box::new(most)])?.iter().map(|row| get_count(row, 0)).collect()
    }

    fn count_world_answers(&self, run: i64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM trials, jsonb_array_elements(parse_json(trials.events)) AS event (value) WHERE trials.run = $1
            AND EXISTS (SELECT 1 FROM calls WHERE calls.run = trials.run AND calls.trial = trials.trial)
            AND (event.value #>> '{happened,answered}' IS NOT NULL OR event.value #>> '{happened,decided}' IS NOT NULL)";
        self.connection.query(sql, vec![Box::new(run)])?.first().map_or(Ok(0), |row| get_count(row, 0))
    }
}

impl PgEngine {
    /// Commits a statement that returns the number of rows it changed.
    fn count_changed(&self, statement: PgStatement) -> Result<usize, StoreError> {
        let rows = self.connection.commit(vec![statement])?;
        let changed = rows.first().and_then(|rows| rows.first()).map_or(Ok(0), |row| get_count(row, 0))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }
}

pub(super) fn read_call(row: &Row) -> Result<CallRow, StoreError> {
    Ok(CallRow {
        trial: get_text(row, 0)?,
        role: get_text(row, 1)?,
        n: get(row, 2)?,
        state: get_text(row, 3)?,
        attempts: get(row, 4)?,
        ceiling: get(row, 5)?,
        cost: get(row, 6)?,
        lost: get(row, 7)?,
        waited_us: get(row, 8)?,
        why: get_optional_text(row, 9)?,
        reply: get_optional_text(row, 10)?,
    })
}
