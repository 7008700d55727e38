//! Alerts that were raised, for repetition and delivery.

use super::counters::count;
use super::{PgTraces, bound, limit};
use crate::StoreError;
use crate::postgres::{encode, get, get_count, get_text, number};
use crate::production::engine::AlertTable;
use crate::production::records::{ProductionCounter, StoredAlert};
use tokio_postgres::Row;

impl AlertTable for PgTraces {
    fn raise_alert(&self, key: &str, raised_s: u64, cool_down_s: u64, body: &str) -> Result<Option<u64>, StoreError> {
        let (key, body, raised) = (encode(key), encode(body), number(raised_s)?);
        let from = bound(raised_s.saturating_sub(cool_down_s));
        self.transact_in_turn(move |mut transaction| {
            let (key, body) = (key.clone(), body.clone());
            Box::pin(async move {
                let sql = "INSERT INTO alerts (key, raised_s, body) SELECT $1, $2, $3
                    WHERE NOT EXISTS (SELECT 1 FROM alerts WHERE key = $1 AND raised_s > $4) RETURNING n";
                let raised = transaction.query(sql, &[&key, &raised, &body, &from]).await?;
                let Some(row) = raised.first() else { return Ok(None) };
                count(&mut transaction, &[(ProductionCounter::AlertsRaised, 1)]).await?;
                Ok(Some(get_count(row, 0)?))
            })
        })
    }

    fn alert_sent(&self, n: u64, sent_s: u64) -> Result<(), StoreError> {
        let (n, sent) = (bound(n), number(sent_s)?);
        self.transact(move |mut transaction| {
            Box::pin(async move {
                let sql = "UPDATE alerts SET sent_s = $2 WHERE n = $1 AND sent_s IS NULL RETURNING n";
                let changed = transaction.query(sql, &[&n, &sent]).await?;
                count(&mut transaction, &[(ProductionCounter::AlertsSent, changed.len() as u64)]).await
            })
        })
    }

    fn undelivered_alerts(&self, from_s: u64, most: usize) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = "SELECT n, key, raised_s, body, sent_s FROM alerts WHERE sent_s IS NULL AND raised_s >= $1 ORDER BY n LIMIT $2";
        self.connection.query(sql, vec![Box::new(bound(from_s)), Box::new(limit(most))])?.iter().map(stored_alert).collect()
    }

    fn alerts(&self, from_s: u64, most: usize) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = "SELECT n, key, raised_s, body, sent_s FROM alerts WHERE raised_s >= $1 ORDER BY n DESC LIMIT $2";
        self.connection.query(sql, vec![Box::new(bound(from_s)), Box::new(limit(most))])?.iter().map(stored_alert).collect()
    }
}

fn stored_alert(row: &Row) -> Result<StoredAlert, StoreError> {
    let sent: Option<i64> = get(row, 4)?;
    Ok(StoredAlert {
        n: get_count(row, 0)?,
        key: get_text(row, 1)?,
        raised_s: get_count(row, 2)?,
        body: get_text(row, 3)?,
        sent_s: sent.map(|sent| u64::try_from(sent).unwrap_or_default()),
    })
}
