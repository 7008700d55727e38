//! Alerts that were raised, for repetition and delivery.

use super::SqliteTraces;
use super::counters::count;
use crate::StoreError;
use crate::production::engine::AlertTable;
use crate::production::records::{ProductionCounter, StoredAlert};
use rusqlite::{Row, params};

impl AlertTable for SqliteTraces {
    fn raise_alert(&self, key: &str, raised_s: u64, cool_down_s: u64, body: &str) -> Result<Option<u64>, StoreError> {
        let transaction = self.transaction()?;
        let from = raised_s.saturating_sub(cool_down_s);
        let repeated = transaction.prepare_cached("SELECT 1 FROM alerts WHERE key = ?1 AND raised_s > ?2")?.exists(params![key, from])?;
        if repeated {
            return Ok(None);
        }
        transaction.execute("INSERT INTO alerts (key, raised_s, body) VALUES (?1, ?2, ?3)", params![key, raised_s, body])?;
        let n = u64::try_from(transaction.last_insert_rowid()).unwrap_or_default();
        count(&transaction, ProductionCounter::AlertsRaised, 1)?;
        transaction.commit()?;
        Ok(Some(n))
    }

    fn alert_sent(&self, n: u64, sent_s: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        let changed = transaction.execute("UPDATE alerts SET sent_s = ?2 WHERE n = ?1 AND sent_s IS NULL", params![n, sent_s])?;
        count(&transaction, ProductionCounter::AlertsSent, changed as u64)?;
        transaction.commit()?;
        Ok(())
    }

    fn undelivered_alerts(&self, from_s: u64, most: usize) -> Result<Vec<StoredAlert>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT n, key, raised_s, body, sent_s FROM alerts WHERE sent_s IS NULL AND raised_s >= ?1 ORDER BY n LIMIT ?2",
        )?;
        let rows = statement.query_map(params![from_s, most as u64], stored_alert)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn alerts(&self, from_s: u64, most: usize) -> Result<Vec<StoredAlert>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT n, key, raised_s, body, sent_s FROM alerts WHERE raised_s >= ?1 ORDER BY n DESC LIMIT ?2")?;
        let rows = statement.query_map(params![from_s, most as u64], stored_alert)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn stored_alert(row: &Row<'_>) -> rusqlite::Result<StoredAlert> {
    Ok(StoredAlert { n: row.get(0)?, key: row.get(1)?, raised_s: row.get(2)?, body: row.get(3)?, sent_s: row.get(4)? })
}
