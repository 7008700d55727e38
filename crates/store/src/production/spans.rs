//! Spans that were acknowledged, and the traces that they wait for.

use super::counters::{ProductionCounter, count};
use super::{ProductionStore, TraceId};
use crate::StoreError;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// Span to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSpan {
    pub trace: TraceId,
    pub span: [u8; 8],
    /// The span has no parent, so that its end is the end of the trace.
    pub is_root: bool,
    /// OTLP/JSON.
    pub body: Vec<u8>,
}

/// Bounds on one trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanLimits {
    pub spans: u64,
    pub bytes: u64,
}

/// Result of storing spans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredSpans {
    /// Spans that were not known.
    pub stored: u64,
    /// Spans that were stored before.
    pub repeated: u64,
    /// Spans of traces that were already left out.
    pub late: u64,
    /// Spans beyond the limits of their trace, which are refused.
    pub over_limit: u64,
}

/// Trace that is not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenTrace {
    pub trace: TraceId,
    pub first_ms: u64,
    pub last_ms: u64,
    pub spans: u64,
    pub root_ended: bool,
}

/// Changes to the row of an open trace.
#[derive(Default)]
struct TraceGrowth {
    spans: u64,
    bytes: u64,
    root_ended: bool,
}

impl ProductionStore {
    /// Stores the spans of several requests in one durable commit. A span is known by its trace and span id; a repetition changes nothing.
    ///
    /// # Errors
    ///
    /// Fails if the commit fails; then no span is stored.
    pub fn add_spans(&self, requests: &[Vec<NewSpan>], now_ms: u64, limits: SpanLimits) -> Result<Vec<StoredSpans>, StoreError> {
        let transaction = self.transaction()?;
        let results: Vec<StoredSpans> =
            requests.iter().map(|spans| add_request(&transaction, spans, now_ms, limits)).collect::<Result<_, _>>()?;
        let sum = |part: fn(&StoredSpans) -> u64| results.iter().map(part).sum();
        count(&transaction, ProductionCounter::SpansStored, sum(|found| found.stored))?;
        count(&transaction, ProductionCounter::SpansRepeated, sum(|found| found.repeated))?;
        count(&transaction, ProductionCounter::SpansLate, sum(|found| found.late))?;
        count(&transaction, ProductionCounter::SpansOverLimit, sum(|found| found.over_limit))?;
        transaction.commit()?;
        Ok(results)
    }

    /// Returns open traces that are complete, the longest quiet first: the root ended and no span came for `settle_ms`, or the first span
    /// is older than `max_age_ms`. Traces that wait for evidence are left out until their time.
    pub fn settled_traces(&self, now_ms: u64, settle_ms: u64, max_age_ms: u64, most: usize) -> Result<Vec<OpenTrace>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT trace, first_ms, last_ms, spans, root_ended FROM open_traces
             WHERE last_ms <= ?1 AND (root_ended OR first_ms <= ?2) AND wait_until_ms <= ?4 ORDER BY last_ms, trace LIMIT ?3",
        )?;
        let (quiet, old) = (now_ms.saturating_sub(settle_ms), now_ms.saturating_sub(max_age_ms));
        let rows = statement.query_map(params![quiet, old, most as u64, now_ms], open_trace)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Lets a complete trace wait for evidence until a time.
    pub fn defer_trace(&self, trace: &TraceId, until_ms: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        transaction.execute("UPDATE open_traces SET wait_until_ms = ?2 WHERE trace = ?1", params![&trace[..], until_ms])?;
        transaction.commit()?;
        Ok(())
    }

    /// Returns the arrival of the last span of the open trace that was quiet longest, from which the lag follows.
    pub fn oldest_open_ms(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.connection.query_row("SELECT min(last_ms) FROM open_traces", [], |row| row.get(0))?)
    }

    pub fn open_trace_count(&self) -> Result<u64, StoreError> {
        Ok(self.connection.query_row("SELECT count(*) FROM open_traces", [], |row| row.get(0))?)
    }

    /// Returns the spans of a trace as stored.
    pub fn spans_of(&self, trace: &TraceId) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT body FROM spans WHERE trace = ?1 ORDER BY span")?;
        let rows = statement.query_map([&trace[..]], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the number of stored spans.
    pub fn span_count(&self) -> Result<u64, StoreError> {
        Ok(self.connection.query_row("SELECT count(*) FROM spans", [], |row| row.get(0))?)
    }
}

fn add_request(transaction: &Connection, spans: &[NewSpan], now_ms: u64, limits: SpanLimits) -> Result<StoredSpans, StoreError> {
    let mut found = StoredSpans::default();
    let mut by_trace: BTreeMap<&TraceId, Vec<&NewSpan>> = BTreeMap::new();
    for span in spans {
        by_trace.entry(&span.trace).or_default().push(span);
    }
    let mut is_dropped = transaction.prepare_cached("SELECT 1 FROM dropped WHERE trace = ?1")?;
    let mut sizes = transaction.prepare_cached("SELECT spans, bytes FROM open_traces WHERE trace = ?1")?;
    let mut insert = transaction.prepare_cached("INSERT OR IGNORE INTO spans (trace, span, received_ms, body) VALUES (?1, ?2, ?3, ?4)")?;
    let mut grow = transaction.prepare_cached(
        "INSERT INTO open_traces (trace, first_ms, last_ms, spans, bytes, root_ended) VALUES (?1, ?2, ?2, ?3, ?4, ?5)
         ON CONFLICT (trace) DO UPDATE SET last_ms = max(last_ms, ?2), spans = spans + ?3, bytes = bytes + ?4,
                                           root_ended = max(root_ended, ?5)",
    )?;
    for (trace, spans) in by_trace {
        if is_dropped.exists([&trace[..]])? {
            found.late += spans.len() as u64;
            continue;
        }
        let before: Option<(u64, u64)> = sizes.query_row([&trace[..]], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let before = before.unwrap_or_default();
        let mut growth = TraceGrowth::default();
        for span in spans {
            let size = span.body.len() as u64;
            if before.0 + growth.spans >= limits.spans || before.1 + growth.bytes + size > limits.bytes {
                found.over_limit += 1;
                continue;
            }
            if insert.execute(params![&trace[..], &span.span[..], now_ms, span.body])? == 0 {
                found.repeated += 1;
                continue;
            }
            growth.spans += 1;
            growth.bytes += size;
            growth.root_ended |= span.is_root;
        }
        found.stored += growth.spans;
        if growth.spans > 0 {
            grow.execute(params![&trace[..], now_ms, growth.spans, growth.bytes, growth.root_ended])?;
        }
    }
    Ok(found)
}

fn open_trace(row: &rusqlite::Row<'_>) -> rusqlite::Result<OpenTrace> {
    Ok(OpenTrace { trace: row.get(0)?, first_ms: row.get(1)?, last_ms: row.get(2)?, spans: row.get(3)?, root_ended: row.get(4)? })
}
