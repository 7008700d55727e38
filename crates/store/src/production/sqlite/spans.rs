//! Spans that were acknowledged, and the traces that they wait for.

use super::SqliteTraces;
use super::counters::count;
use crate::StoreError;
use crate::production::engine::SpanTable;
use crate::production::records::{NewSpan, OpenTrace, ProductionCounter, SpanBatch, SpanLimits, StoredSpans, TraceId};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// Changes to the row of an open trace.
#[derive(Default)]
struct TraceGrowth {
    spans: u64,
    bytes: u64,
    root_ended: bool,
    refused: u64,
}

impl SpanTable for SqliteTraces {
    fn add_spans(&self, requests: &[SpanBatch], now_ms: u64, limits: SpanLimits) -> Result<Vec<StoredSpans>, StoreError> {
        let transaction = self.transaction()?;
        let results: Vec<StoredSpans> =
            requests.iter().map(|batch| add_request(&transaction, batch, now_ms, limits)).collect::<Result<_, _>>()?;
        let sum = |part: fn(&StoredSpans) -> u64| results.iter().map(part).sum();
        count(&transaction, ProductionCounter::SpansStored, sum(|found| found.stored))?;
        count(&transaction, ProductionCounter::SpansRepeated, sum(|found| found.repeated))?;
        count(&transaction, ProductionCounter::SpansConflicting, sum(|found| found.conflicting))?;
        count(&transaction, ProductionCounter::SpansLate, sum(|found| found.late))?;
        count(&transaction, ProductionCounter::SpansOverLimit, sum(|found| found.over_limit))?;
        transaction.commit()?;
        Ok(results)
    }

    fn settled_traces(&self, now_ms: u64, settle_ms: u64, max_age_ms: u64, most: usize) -> Result<Vec<OpenTrace>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT trace, first_ms, last_ms, spans, root_ended, refused FROM open_traces
             WHERE ((last_ms <= ?1 AND root_ended) OR first_ms <= ?2) AND wait_until_ms <= ?4 ORDER BY last_ms, trace LIMIT ?3",
        )?;
        let (quiet, old) = (now_ms.saturating_sub(settle_ms), now_ms.saturating_sub(max_age_ms));
        let rows = statement.query_map(params![quiet, old, most as u64, now_ms], open_trace)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn defer_trace(&self, trace: &TraceId, until_ms: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        transaction.execute("UPDATE open_traces SET wait_until_ms = ?2 WHERE trace = ?1", params![&trace[..], until_ms])?;
        transaction.commit()?;
        Ok(())
    }

    fn oldest_open_ms(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.connection.query_row("SELECT min(last_ms) FROM open_traces", [], |row| row.get(0))?)
    }

    fn overdue_traces(&self, before_ms: u64) -> Result<u64, StoreError> {
        Ok(self.connection.query_row("SELECT count(*) FROM open_traces WHERE first_ms < ?1", [before_ms], |row| row.get(0))?)
    }

    fn open_trace_count(&self) -> Result<u64, StoreError> {
        Ok(self.connection.query_row("SELECT count(*) FROM open_traces", [], |row| row.get(0))?)
    }

    fn spans_of(&self, trace: &TraceId) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT body FROM spans WHERE trace = ?1 ORDER BY span")?;
        let rows = statement.query_map([&trace[..]], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn span_count(&self) -> Result<u64, StoreError> {
        Ok(self.connection.query_row("SELECT count(*) FROM spans", [], |row| row.get(0))?)
    }
}

fn add_request(transaction: &Connection, batch: &SpanBatch, now_ms: u64, limits: SpanLimits) -> Result<StoredSpans, StoreError> {
    let mut found = StoredSpans::default();
    let mut by_trace: BTreeMap<&TraceId, (Vec<&NewSpan>, u64)> = BTreeMap::new();
    for span in &batch.spans {
        by_trace.entry(&span.trace).or_default().0.push(span);
    }
    for (trace, refused) in &batch.refused {
        by_trace.entry(trace).or_default().1 += refused;
    }
    let mut dropped = transaction.prepare_cached("SELECT refused FROM dropped WHERE trace = ?1")?;
    let mut sizes = transaction.prepare_cached("SELECT spans, bytes FROM open_traces WHERE trace = ?1")?;
    let mut kept = transaction.prepare_cached("SELECT refused FROM traces WHERE trace = ?1")?;
    let mut stored = transaction.prepare_cached("SELECT count(*), coalesce(sum(length(body)), 0) FROM spans WHERE trace = ?1")?;
    let mut known = transaction.prepare_cached("SELECT body = ?3 FROM spans WHERE trace = ?1 AND span = ?2")?;
    let mut insert = transaction.prepare_cached("INSERT OR IGNORE INTO spans (trace, span, received_ms, body) VALUES (?1, ?2, ?3, ?4)")?;
    let mut grow = transaction.prepare_cached(
        "INSERT INTO open_traces (trace, first_ms, last_ms, spans, bytes, root_ended, refused) VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (trace) DO UPDATE SET last_ms = max(last_ms, ?2), spans = ?3, bytes = ?4, root_ended = max(root_ended, ?5),
                                           refused = refused + ?6",
    )?;
    for (trace, (spans, refused)) in by_trace {
        let left_out: Option<u64> = dropped.query_row([&trace[..]], |row| row.get(0)).optional()?;
        let size = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let open: Option<(u64, u64)> = sizes.query_row([&trace[..]], size).optional()?;
        let decided: Option<u64> = if open.is_none() { kept.query_row([&trace[..]], |row| row.get(0)).optional()? } else { None };
        let before = match (open, decided) {
            (Some(open), _) => open,
            // A kept trace that grows again is bounded as a whole.
            (None, Some(_)) => stored.query_row([&trace[..]], size)?,
            (None, None) => (0, 0),
        };
        let mut growth = TraceGrowth { refused, ..TraceGrowth::default() };
        for span in spans {
            let size = span.body.len() as u64;
            let is_full = before.0 + growth.spans >= limits.spans || before.1 + growth.bytes + size > limits.bytes;
            if is_full || insert.execute(params![&trace[..], &span.span[..], now_ms, span.body])? == 0 {
                // A span that is stored is not lost if it comes again. Another one with its id is.
                let is_same = known.query_row(params![&trace[..], &span.span[..], span.body], |row| row.get(0)).optional()?;
                match is_same {
                    Some(true) => found.repeated += 1,
                    Some(false) => found.conflicting += 1,
                    None => found.over_limit += 1,
                }
                growth.refused += u64::from(is_same != Some(true));
                continue;
            }
            growth.spans += 1;
            growth.bytes += size;
            growth.root_ended |= span.is_root;
        }
        // Spans of a trace that was left out are not counted again.
        *(if left_out.is_some() { &mut found.late } else { &mut found.stored }) += growth.spans;
        if growth.spans + growth.refused > 0 {
            let (spans, bytes) = (before.0 + growth.spans, before.1 + growth.bytes);
            // A trace that is read again is as incomplete as before.
            let earlier = if open.is_none() { decided.max(left_out).unwrap_or(0) } else { 0 };
            grow.execute(params![&trace[..], now_ms, spans, bytes, growth.root_ended, earlier + growth.refused])?;
        }
    }
    Ok(found)
}

fn open_trace(row: &rusqlite::Row<'_>) -> rusqlite::Result<OpenTrace> {
    Ok(OpenTrace {
        trace: row.get(0)?,
        first_ms: row.get(1)?,
        last_ms: row.get(2)?,
        spans: row.get(3)?,
        root_ended: row.get(4)?,
        refused: row.get(5)?,
    })
}
