//! Removal of old traces by age and size.

use super::SqliteTraces;
use crate::StoreError;
use crate::production::engine::{MarkTable, RetentionTable};
use crate::production::records::{RetentionResult, StoreMark};
use rusqlite::params;

/// Traces removed in one step, so that the write lock is never held for long.
const STEP: u64 = 500;
const MS_PER_DAY: u64 = 86_400_000;

impl RetentionTable for SqliteTraces {
    fn retain(&self, now_ms: u64, days: u64, bytes: u64) -> Result<RetentionResult, StoreError> {
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
        dropped.execute("DELETE FROM spending WHERE at_s < ?1", params![before / 1000])?;
        dropped.execute("DELETE FROM outages WHERE to_s < ?1", params![before / 1000])?;
        dropped.execute("DELETE FROM judgements WHERE judged_ms < ?1", params![before])?;
        dropped.execute("DELETE FROM judge_calls WHERE day < ?1", params![before / MS_PER_DAY])?;
        dropped.commit()?;
        while self.content_bytes()? > bytes {
            self.mark_removal()?;
            let removed = self.remove_oldest("?1 = ?1", 0)?;
            result.by_size += removed;
            if removed == 0 {
                break;
            }
        }
        Ok(result)
    }

    fn content_bytes(&self) -> Result<u64, StoreError> {
        let pages: u64 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let free: u64 = self.connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
        let size: u64 = self.connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        Ok(pages.saturating_sub(free) * size)
    }
}

impl SqliteTraces {
    /// Notes the arrival of the newest trace that is removed next, because its window loses evidence.
    fn mark_removal(&self) -> Result<(), StoreError> {
        let sql = format!("SELECT max(at_s) FROM (SELECT at_s FROM traces ORDER BY seq LIMIT {STEP})");
        let newest: Option<u64> = self.connection.query_row(&sql, [], |row| row.get(0))?;
        match newest {
            Some(at_s) => self.set_mark(StoreMark::RemovedUntil, at_s),
            None => Ok(()),
        }
    }

    fn remove_oldest(&self, condition: &str, value: u64) -> Result<u64, StoreError> {
        let transaction = self.transaction()?;
        let oldest = format!("SELECT trace FROM traces WHERE {condition} ORDER BY seq LIMIT {STEP}");
        // A trace that grows again is not removed under the hands of the collector.
        let idle = format!("SELECT trace FROM ({oldest}) WHERE trace NOT IN (SELECT trace FROM open_traces)");
        transaction.execute(&format!("DELETE FROM spans WHERE trace IN ({idle})"), params![value])?;
        // Spans of a removed trace that come again are late.
        transaction.execute(
            &format!(
                "INSERT OR IGNORE INTO dropped (trace, decided_ms, refused)
                 SELECT trace, decided_ms, refused FROM traces WHERE trace IN ({idle})"
            ),
            params![value],
        )?;
        let removed = transaction.execute(&format!("DELETE FROM traces WHERE trace IN ({idle})"), params![value])?;
        transaction.commit()?;
        Ok(removed as u64)
    }
}
