//! Removal of old traces by age and size. Months that go as a whole are dropped with their partitions; the rest is removed by rows.

use super::marks::set_mark;
use super::months::{MONTHLY_TABLES, month_of};
use super::{PgTraces, bound, get_trace};
use crate::StoreError;
use crate::postgres::{PgTransaction, get, get_count};
use crate::production::engine::RetentionTable;
use crate::production::records::{RetentionResult, StoreMark};
use std::collections::BTreeMap;
use tokio_postgres::Row;

/// Traces removed in one commit by rows.
const STEP: i64 = 500;
const MS_PER_DAY: u64 = 86_400_000;

/// Part of a month that is dropped.
#[derive(Debug, Clone, Copy)]
enum DroppedPart {
    /// Everything, with the ids of traces that were left out.
    All,
    /// Traces with their spans; their ids stay.
    Traces,
}

/// Month with partitions.
struct StoredMonth {
    month: i32,
    traces: u64,
    bytes: u64,
    /// Last decision on a kept trace.
    decided_ms: Option<i64>,
}

impl RetentionTable for PgTraces {
    fn retain(&self, now_ms: u64, days: u64, bytes: u64) -> Result<RetentionResult, StoreError> {
        let before_ms = now_ms.saturating_sub(days.saturating_mul(MS_PER_DAY));
        let before = bound(before_ms);
        let mut result = RetentionResult::default();
        for stored in self.stored_months()? {
            let is_past = stored.month < month_of(before_ms);
            if is_past && stored.decided_ms.is_none_or(|last| last < before) && self.drop_month(stored.month, DroppedPart::All)? {
                result.by_age += stored.traces;
            }
        }
        loop {
            let removed = self.remove_oldest(Some(before))?;
            result.by_age += removed;
            if removed == 0 {
                break;
            }
        }
        self.remove_others(before_ms)?;
        for stored in self.stored_months()? {
            if stored.traces > 0
                && self.content_bytes()?.saturating_sub(stored.bytes) >= bytes
                && self.drop_month(stored.month, DroppedPart::Traces)?
            {
                result.by_size += stored.traces;
            }
        }
        while self.content_bytes()? > bytes {
            let removed = self.remove_oldest(None)?;
            result.by_size += removed;
            if removed == 0 {
                break;
            }
        }
        Ok(result)
    }

    fn content_bytes(&self) -> Result<u64, StoreError> {
        let sql = "SELECT ((SELECT coalesce(sum(bytes), 0) FROM months) + (SELECT coalesce(sum(bytes - decided_bytes), 0) FROM open_traces))::bigint";
        self.connection.query(sql, vec![])?.first().map_or(Ok(0), |row| get_count(row, 0))
    }
}

impl PgTraces {
    /// Returns the months that have partitions, the oldest first.
    fn stored_months(&self) -> Result<Vec<StoredMonth>, StoreError> {
        let sql = "SELECT found.month, coalesce(months.traces, 0), coalesce(months.bytes, 0),
                (SELECT max(decided_ms) FROM traces WHERE traces.month = found.month)
            FROM (SELECT split_part(relname, '_', 2)::integer AS month FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
                WHERE inhparent = 'dropped'::regclass) AS found LEFT JOIN months ON months.month = found.month ORDER BY 1";
        let read =
            |row| Ok(StoredMonth { month: get(row, 0)?, traces: get_count(row, 1)?, bytes: get_count(row, 2)?, decided_ms: get(row, 3)? });
        self.connection.query(sql, vec![])?.iter().map(read).collect()
    }

    /// Drops the partitions of a month that is over. Returns false if a trace of the month is open: it must not be removed under the hands
    /// of the collector.
    fn drop_month(&self, month: i32, part: DroppedPart) -> Result<bool, StoreError> {
        self.transact_in_turn(move |mut transaction| {
            Box::pin(async move {
                // Waits for writers of the tables; those that wait for this one find the month missing and begin again.
                transaction.batch(&format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", MONTHLY_TABLES.join(", "))).await?;
                let open = transaction.query("SELECT 1 FROM open_traces WHERE month = $1 LIMIT 1", &[&month]).await?;
                if !open.is_empty() {
                    return Ok(false);
                }
                if let DroppedPart::Traces = part {
                    let newest = transaction.query("SELECT max(at_s) FROM traces WHERE month = $1", &[&month]).await?;
                    if let Some(at) = newest.first().map_or(Ok(None), |row| get::<Option<i64>>(row, 0))? {
                        set_mark(&mut transaction, StoreMark::RemovedUntil, at).await?;
                    }
                }
                let dropped = match part {
                    DroppedPart::All => format!("DROP TABLE IF EXISTS dropped_{month}"),
                    // Spans of a removed trace that come again are late.
                    DroppedPart::Traces => format!(
                        "INSERT INTO dropped (month, trace, decided_ms, refused)
                         SELECT month, trace, decided_ms, refused FROM traces WHERE month = {month} ON CONFLICT DO NOTHING"
                    ),
                };
                let drop_tables = format!("DROP TABLE IF EXISTS spans_{month}, traces_{month}; DELETE FROM months WHERE month = {month}");
                transaction.batch(&format!("{dropped}; {drop_tables}")).await?;
                Ok(true)
            })
        })
    }

    /// Removes the oldest traces that were decided before a time, or at any for their size. Returns their number, at most [`STEP`].
    fn remove_oldest(&self, before: Option<i64>) -> Result<u64, StoreError> {
        self.transact_in_turn(move |mut transaction| Box::pin(async move { remove_step(&mut transaction, before).await }))
    }

    /// Removes old rows of the tables without partitions.
    fn remove_others(&self, before_ms: u64) -> Result<(), StoreError> {
        let (ms, s, day) = (bound(before_ms), bound(before_ms / 1000), bound(before_ms / MS_PER_DAY));
        self.transact_in_turn(move |mut transaction| {
            Box::pin(async move {
                transaction.query("DELETE FROM alerts WHERE raised_s < $1", &[&s]).await?;
                transaction.query("DELETE FROM receipts WHERE wanted_ms < $1", &[&ms]).await?;
                transaction.query("DELETE FROM spending WHERE at_s < $1", &[&s]).await?;
                transaction.query("DELETE FROM outages WHERE to_s < $1", &[&s]).await?;
                transaction.query("DELETE FROM judgements WHERE judged_ms < $1", &[&ms]).await?;
                transaction.query("DELETE FROM judge_calls WHERE day < $1", &[&day]).await.map(drop)
            })
        })
    }
}

async fn remove_step(transaction: &mut PgTransaction<'_>, before: Option<i64>) -> Result<u64, StoreError> {
    // A trace that grows again is not removed under the hands of the collector.
    let oldest = "SELECT trace FROM traces WHERE decided_ms < $1
            AND NOT EXISTS (SELECT 1 FROM open_traces WHERE open_traces.trace = traces.trace)
        ORDER BY seq LIMIT $2";
    let rows = transaction.query(oldest, &[&before.unwrap_or(i64::MAX), &STEP]).await?;
    let locked = lock_decided(transaction, &rows).await?;
    let rows = transaction.query("SELECT trace, month, bytes, at_s FROM traces WHERE trace = ANY ($1)", &[&locked]).await?;
    let (mut ids, mut months, mut newest) = (vec![], BTreeMap::<i32, (i64, i64)>::new(), None);
    for row in &rows {
        ids.push(get_trace(row, 0)?.to_vec());
        let lost = months.entry(get(row, 1)?).or_default();
        lost.0 += 1;
        lost.1 += get::<i64>(row, 2)?;
        newest = newest.max(Some(get::<i64>(row, 3)?));
    }
    if let (None, Some(at)) = (before, newest) {
        set_mark(transaction, StoreMark::RemovedUntil, at).await?;
    }
    transaction.query("DELETE FROM spans WHERE trace = ANY ($1)", &[&ids]).await?;
    // Spans of a removed trace that come again are late.
    let remember = "INSERT INTO dropped (month, trace, decided_ms, refused)
        SELECT month, trace, decided_ms, refused FROM traces WHERE trace = ANY ($1) ON CONFLICT DO NOTHING";
    transaction.query(remember, &[&ids]).await?;
    transaction.query("DELETE FROM traces WHERE trace = ANY ($1)", &[&ids]).await?;
    for (month, (traces, bytes)) in &months {
        let sql = "UPDATE months SET traces = traces - $2, bytes = bytes - $3 WHERE month = $1";
        transaction.query(sql, &[month, traces, bytes]).await?;
    }
    transaction.query("DELETE FROM open_traces WHERE trace = ANY ($1)", &[&locked]).await?;
    Ok(ids.len() as u64)
}

/// Makes a row of each decided trace, as those who add spans do, so that they wait until the commit. Returns the traces without those that
/// grow again by now.
async fn lock_decided(transaction: &mut PgTransaction<'_>, decided: &[Row]) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut ids = decided.iter().map(|row| Ok(get_trace(row, 0)?.to_vec())).collect::<Result<Vec<_>, StoreError>>()?;
    // In the order of those who add spans.
    ids.sort_unstable();
    let lock = "INSERT INTO open_traces (trace, month, first_ms, last_ms, spans, bytes, root_ended)
        SELECT trace, 0, 0, 0, 0, 0, false FROM unnest($1::bytea[]) AS given (trace) ON CONFLICT (trace) DO NOTHING RETURNING trace";
    let locked = transaction.query(lock, &[&ids]).await?;
    locked.iter().map(|row| Ok(get_trace(row, 0)?.to_vec())).collect()
}
