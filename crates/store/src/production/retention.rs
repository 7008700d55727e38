//! Removal of old traces by age and size.

use super::ProductionStore;
use crate::StoreError;
use rusqlite::params;

/// Traces removed in one step, so that the write lock is never held for long.
const STEP: u64 = 500;
const MS_PER_DAY: u64 = 86_400_000;

/// Number of removed traces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionResult {
    pub by_age: u64,
    pub by_size: u64,
}

impl ProductionStore {
    /// Removes traces that were decided more than `days` ago, then the oldest until the content takes at most `bytes`.
    pub fn retain(&self, now_ms: u64, days: u64, bytes: u64) -> Result<RetentionResult, StoreError> {
        let before = now_ms.saturating_sub(days.saturating_mul(MS_PER_DAY));
        let mut result = RetentionResult::default();
        loop {
            let removed = self.remove_oldest("decided_ms < ?1", before)?;
            result.by_age += removed;
            if removed == 0 {
                break;
            }
        }
        let dropped = self.transaction()?;
        dropped.execute("DELETE FROM dropped WHERE decided_ms < ?1", params![before])?;
        dropped.execute("DELETE FROM alerts WHERE raised_s < ?1", params![before / 1000])?;
        dropped.execute("DELETE FROM receipts WHERE wanted_ms < ?1", params![before])?;
        dropped.execute("DELETE FROM judgements WHERE judged_ms < ?1", params![before])?;
        dropped.execute("DELETE FROM judge_calls WHERE day < ?1", params![before / MS_PER_DAY])?;
        dropped.commit()?;
        while self.content_bytes()? > bytes {
            let removed = self.remove_oldest("?1 = ?1", 0)?;
            result.by_size += removed;
            if removed == 0 {
                break;
            }
        }
        Ok(result)
    }

    fn remove_oldest(&self, condition: &str, value: u64) -> Result<u64, StoreError> {
        let transaction = self.transaction()?;
        let oldest = format!("SELECT trace FROM traces WHERE {condition} ORDER BY seq LIMIT {STEP}");
        // A trace that grows again is not removed under the hands of the collector.
        let idle = format!("SELECT trace FROM ({oldest}) WHERE trace NOT IN (SELECT trace FROM open_traces)");
        transaction.execute(&format!("DELETE FROM spans WHERE trace IN ({idle})"), params![value])?;
        // Spans of a removed trace that come again are late, not a new trace.
        transaction.execute(
            &format!("INSERT OR IGNORE INTO dropped (trace, decided_ms) SELECT trace, decided_ms FROM traces WHERE trace IN ({idle})"),
            params![value],
        )?;
        let removed = transaction.execute(&format!("DELETE FROM traces WHERE trace IN ({idle})"), params![value])?;
        transaction.commit()?;
        Ok(removed as u64)
    }

    /// Returns the bytes of the file that hold content; deleted pages are used again.
    pub fn content_bytes(&self) -> Result<u64, StoreError> {
        let pages: u64 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let free: u64 = self.connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
        let size: u64 = self.connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        Ok(pages.saturating_sub(free) * size)
    }
}
