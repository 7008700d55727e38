//! Model calls, their cost, and cached replies in SQLite.

use super::SqliteEngine;
use super::trials::{add_telemetry, insert_trial};
use crate::call_row::{CallRow, NOT_RESERVABLE, NOT_RESERVED, ORPHANED};
use crate::engine::CallTable;
use crate::{CallKey, CallStateCounts, JournalWrite, RoleSpending, StoreError};
use model::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};

impl CallTable for SqliteEngine {
    fn write(&self, writes: &[JournalWrite]) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        for write in writes {
            apply_write(&transaction, write)?;
        }
        Ok(transaction.commit()?)
    }

    fn call_counts(&self, run: i64) -> Result<CallStateCounts, StoreError> {
        let sql = "SELECT coalesce(sum(state = 'settled'), 0), coalesce(sum(state = 'reserved'), 0), coalesce(sum(state = 'failed'), 0),
            coalesce(sum(attempts), 0) FROM calls WHERE run = ?1";
        let calls = self.connection.query_row(sql, [run], |row| {
            Ok(CallStateCounts { settled: row.get(0)?, reserved: row.get(1)?, failed: row.get(2)?, attempts: row.get(3)? })
        });
        Ok(calls?)
    }

    fn mean_latency_ms(&self, run: i64) -> Result<Option<f64>, StoreError> {
        let sql = "SELECT avg(waited_us) / 1000.0 FROM calls WHERE run = ?1 AND state = 'settled'";
        Ok(self.connection.query_row(sql, [run], |row| row.get(0))?)
    }

    fn settled_reply(&self, call: &CallKey) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT cost, reply FROM calls WHERE run = ?1 AND trial = ?2 AND role = ?3 AND n = ?4 AND state = 'settled'";
        let found = self
            .connection
            .prepare_cached(sql)?
            .query_row(params![call.run, call.trial.as_str(), call.role, call.n], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found)
    }

    fn fail_reserved_calls(&self, run: i64) -> Result<usize, StoreError> {
        let sql = "UPDATE calls SET state = 'failed', lost = lost + ceiling, why = ?2 WHERE run = ?1 AND state = 'reserved'";
        Ok(self.connection.execute(sql, params![run, ORPHANED])?)
    }

    fn cached_reply(&self, key: &ContentHash, not_before: i64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT reply FROM cache WHERE key = ?1 AND at >= ?2";
        Ok(self.connection.prepare_cached(sql)?.query_row(params![key.as_str(), not_before], |row| row.get(0)).optional()?)
    }

    fn evict_replies_before(&self, before: i64) -> Result<usize, StoreError> {
        Ok(self.connection.execute("DELETE FROM cache WHERE at < ?1", [before])?)
    }

    fn for_each_call(&self, run: i64, take: &mut dyn FnMut(CallRow) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let mut rows = self.connection.prepare_cached(
            "SELECT trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply FROM calls WHERE run = ?1 ORDER BY trial, role, n",
        )?;
        let mut rows = rows.query([run])?;
        while let Some(row) = rows.next()? {
            take(CallRow {
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
            })?;
        }
        Ok(())
    }

    fn insert_calls(&self, run: i64, calls: &[CallRow]) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        for call in calls {
            let CallRow { trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply } = call;
            let sql = "INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
            let values = params![run, trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply];
            transaction.prepare_cached(sql)?.execute(values)?;
        }
        Ok(transaction.commit()?)
    }

    fn total_spending(&self, run: i64) -> Result<u64, StoreError> {
        let sql = "SELECT CAST(min(total(lost + CASE state WHEN 'reserved' THEN ceiling ELSE cost END), 9e18) AS INTEGER)
            FROM calls WHERE run = ?1";
        Ok(self.connection.query_row(sql, [run], |row| row.get(0))?)
    }

    fn spending(&self, run: i64) -> Result<Vec<RoleSpending>, StoreError> {
        let sql = "SELECT trials.case_id, trials.subject, calls.role, count(*),
                CAST(min(total(calls.lost + CASE calls.state WHEN 'reserved' THEN calls.ceiling ELSE calls.cost END), 9e18) AS INTEGER)
            FROM calls LEFT JOIN trials ON trials.run = calls.run AND trials.trial = calls.trial
            WHERE calls.run = ?1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
        let mut rows = self.connection.prepare(sql)?;
        let rows = rows.query_map([run], |row| {
            Ok(RoleSpending { case: row.get(0)?, subject: row.get(1)?, role: row.get(2)?, calls: row.get(3)?, nanos: row.get(4)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn trial_costs(&self, run: i64, most: usize) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT CAST(min(total(cost + lost), 9e18) AS INTEGER) AS spent FROM calls WHERE run = ?1 GROUP BY trial HAVING spent > 0
            ORDER BY trial LIMIT ?2";
        let mut rows = self.connection.prepare_cached(sql)?;
        let costs = rows.query_map(params![run, i64::try_from(most).unwrap_or(i64::MAX)], |row| row.get(0))?;
        Ok(costs.collect::<Result<_, _>>()?)
    }

    fn count_world_answers(&self, run: i64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM trials, json_each(trials.events) AS event WHERE trials.run = ?1
            AND EXISTS (SELECT 1 FROM calls WHERE calls.run = trials.run AND calls.trial = trials.trial)
            AND (json_extract(event.value, '$.happened.answered') IS NOT NULL OR json_extract(event.value, '$.happened.decided') IS NOT NULL)";
        Ok(self.connection.query_row(sql, [run], |row| row.get(0))?)
    }
}

fn apply_write(connection: &Connection, write: &JournalWrite) -> Result<(), StoreError> {
    match write {
        JournalWrite::Trial(row) => insert_trial(connection, row),
        JournalWrite::Reserve { call, ceiling } => reserve(connection, call, *ceiling),
        JournalWrite::Settle { call, cost, waited_us, reply } => {
            let sql = "UPDATE calls SET state = 'settled', cost = ?5, waited_us = ?6, reply = ?7
                WHERE run = ?1 AND trial = ?2 AND role = ?3 AND n = ?4 AND state = 'reserved'";
            let values = params![call.run, call.trial.as_str(), call.role, call.n, cost, waited_us, reply];
            expect_one_row(call, connection.prepare_cached(sql)?.execute(values)?, NOT_RESERVED)
        }
        JournalWrite::Fail { call, cost, why } => {
            let sql = "UPDATE calls SET state = 'failed', lost = lost + ?5, why = ?6
                WHERE run = ?1 AND trial = ?2 AND role = ?3 AND n = ?4 AND state = 'reserved'";
            let values = params![call.run, call.trial.as_str(), call.role, call.n, cost, why];
            expect_one_row(call, connection.prepare_cached(sql)?.execute(values)?, NOT_RESERVED)
        }
        JournalWrite::CacheReply { key, at, reply } => {
            let sql = "INSERT OR REPLACE INTO cache (key, at, reply) VALUES (?1, ?2, ?3)";
            connection.prepare_cached(sql)?.execute(params![key.as_str(), at, reply])?;
            Ok(())
        }
        JournalWrite::Count { run, what, n } => add_telemetry(connection, *run, what, *n),
        JournalWrite::Barrier => Ok(()),
    }
}

fn reserve(connection: &Connection, call: &CallKey, ceiling: u64) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost) VALUES (?1, ?2, ?3, ?4, 'reserved', 1, ?5, 0, 0)
        ON CONFLICT DO UPDATE SET state = 'reserved', attempts = attempts + 1, ceiling = excluded.ceiling WHERE state = 'failed'";
    let changed = connection.prepare_cached(sql)?.execute(params![call.run, call.trial.as_str(), call.role, call.n, ceiling])?;
    expect_one_row(call, changed, NOT_RESERVABLE)
}

fn expect_one_row(call: &CallKey, changed: usize, otherwise: &str) -> Result<(), StoreError> {
    if changed == 1 { Ok(()) } else { Err(call.refused(otherwise)) }
}
