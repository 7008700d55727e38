//! Model calls: reserved before they are sent, then settled or failed, so that none is paid twice. Also the reply cache.

use crate::{Store, StoreError};
use model::ContentHash;
use rusqlite::{OptionalExtension, params};

/// Key of a model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallKey {
    pub run: i64,
    pub trial: ContentHash,
    pub role: &'static str,
    pub n: u32,
}

/// Number of calls of a run by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallStateCounts {
    pub settled: u64,
    pub reserved: u64,
    pub failed: u64,
    /// Reservations of all calls, retries included.
    pub attempts: u64,
}

impl Store {
    /// Returns the number of calls of a run by state.
    pub fn call_counts(&self, run: i64) -> Result<CallStateCounts, StoreError> {
        let sql = "SELECT coalesce(sum(state = 'settled'), 0), coalesce(sum(state = 'reserved'), 0), coalesce(sum(state = 'failed'), 0),
            coalesce(sum(attempts), 0) FROM calls WHERE run = ?1";
        let calls = self.connection.query_row(sql, [run], |row| {
            Ok(CallStateCounts { settled: row.get(0)?, reserved: row.get(1)?, failed: row.get(2)?, attempts: row.get(3)? })
        });
        Ok(calls?)
    }

    /// Returns the mean latency of settled calls.
    pub fn mean_latency_ms(&self, run: i64) -> Result<Option<f64>, StoreError> {
        let sql = "SELECT avg(waited_us) / 1000.0 FROM calls WHERE run = ?1 AND state = 'settled'";
        Ok(self.connection.query_row(sql, [run], |row| row.get(0))?)
    }

    /// Returns the cost in nano-dollars and the reply of a settled call.
    pub fn settled_reply(&self, call: &CallKey) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT cost, reply FROM calls WHERE run = ?1 AND trial = ?2 AND role = ?3 AND n = ?4 AND state = 'settled'";
        let found = self
            .connection
            .prepare_cached(sql)?
            .query_row(params![call.run, call.trial.as_str(), call.role, call.n], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found)
    }

    /// Reserves a call with the most it may cost, in nano-dollars. A failed call may be reserved again.
    ///
    /// # Errors
    ///
    /// Fails if the call is under way or settled.
    pub fn reserve_call(&self, call: &CallKey, ceiling: u64) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost) VALUES (?1, ?2, ?3, ?4, 'reserved', 1, ?5, 0, 0)
            ON CONFLICT DO UPDATE SET state = 'reserved', attempts = attempts + 1, ceiling = excluded.ceiling WHERE state = 'failed'";
        let changed = self.connection.prepare_cached(sql)?.execute(params![call.run, call.trial.as_str(), call.role, call.n, ceiling])?;
        expect_one_row(call, changed, "it is under way or settled already")
    }

    /// Stores the reply and the cost of a reserved call.
    pub fn settle_call(&self, call: &CallKey, cost: u64, waited_us: Option<u64>, reply: &str) -> Result<(), StoreError> {
        let sql = "UPDATE calls SET state = 'settled', cost = ?5, waited_us = ?6, reply = ?7
            WHERE run = ?1 AND trial = ?2 AND role = ?3 AND n = ?4 AND state = 'reserved'";
        let values = params![call.run, call.trial.as_str(), call.role, call.n, cost, waited_us, reply];
        expect_one_row(call, self.connection.prepare_cached(sql)?.execute(values)?, "it was not reserved")
    }

    /// Marks a reserved call as failed. The cost of the attempt stays spent.
    pub fn fail_call(&self, call: &CallKey, cost: u64, why: &str) -> Result<(), StoreError> {
        let sql = "UPDATE calls SET state = 'failed', lost = lost + ?5, why = ?6
            WHERE run = ?1 AND trial = ?2 AND role = ?3 AND n = ?4 AND state = 'reserved'";
        let values = params![call.run, call.trial.as_str(), call.role, call.n, cost, why];
        expect_one_row(call, self.connection.prepare_cached(sql)?.execute(values)?, "it was not reserved")
    }

    /// Fails the calls that were under way when their process died, and returns their number. The outcome is unknown: charges the
    /// ceiling and allows a retry.
    pub fn fail_orphaned_calls(&self, run: i64) -> Result<usize, StoreError> {
        let sql = "UPDATE calls SET state = 'failed', lost = lost + ceiling, why = 'under way when the process ended'
            WHERE run = ?1 AND state = 'reserved'";
        let orphaned = self.connection.execute(sql, [run])?;
        self.add_telemetry(run, "asked_again", orphaned as u64)?;
        Ok(orphaned)
    }

    /// Returns a reply that any run cached at this second or later.
    pub fn cached_reply(&self, key: &ContentHash, not_before: i64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT reply FROM cache WHERE key = ?1 AND at >= ?2";
        Ok(self.connection.prepare_cached(sql)?.query_row(params![key.as_str(), not_before], |row| row.get(0)).optional()?)
    }

    /// Caches a reply for all runs, replacing an older one.
    pub fn cache_reply(&self, key: &ContentHash, at: i64, reply: &str) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO cache (key, at, reply) VALUES (?1, ?2, ?3)";
        self.connection.prepare_cached(sql)?.execute(params![key.as_str(), at, reply])?;
        Ok(())
    }

    /// Removes replies cached before this second, and returns their number.
    pub fn evict_replies_before(&self, before: i64) -> Result<usize, StoreError> {
        Ok(self.connection.execute("DELETE FROM cache WHERE at < ?1", [before])?)
    }
}

fn expect_one_row(call: &CallKey, changed: usize, otherwise: &str) -> Result<(), StoreError> {
    if changed == 1 {
        return Ok(());
    }
    let CallKey { trial, role, n, .. } = call;
    Err(StoreError::Journal(format!("call {n} of the {role} in trial {}: {otherwise}", trial.short())))
}
