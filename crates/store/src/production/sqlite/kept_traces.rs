//! Traces that were decided: kept with their scores, or left out.

use super::SqliteTraces;
use super::counters::count;
use crate::StoreError;
use crate::production::engine::TraceTable;
use crate::production::records::{KeptTrace, OpenTrace, ProductionCounter, TraceDecision, TraceId};
use rusqlite::{Connection, OptionalExtension, Row, params};

impl TraceTable for SqliteTraces {
    fn decide(&self, decisions: &[(OpenTrace, TraceDecision)], now_ms: u64) -> Result<u64, StoreError> {
        let transaction = self.transaction()?;
        let mut decided = 0;
        for (open, decision) in decisions {
            let current: Option<(u64, u64)> = transaction
                .prepare_cached("SELECT spans, refused FROM open_traces WHERE trace = ?1")?
                .query_row([&open.trace[..]], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            if current != Some((open.spans, open.refused)) {
                continue;
            }
            decided += 1;
            transaction.prepare_cached("DELETE FROM open_traces WHERE trace = ?1")?.execute([&open.trace[..]])?;
            match decision {
                TraceDecision::Keep(kept) => keep(&transaction, open, kept, now_ms)?,
                TraceDecision::Drop => drop_trace(&transaction, open, now_ms, ProductionCounter::TracesDropped)?,
                TraceDecision::Unreadable => drop_trace(&transaction, open, now_ms, ProductionCounter::TracesUnreadable)?,
            }
        }
        transaction.commit()?;
        Ok(decided)
    }

    fn kept_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<KeptTrace>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT trace, seq, at_s, sampled, probability, reasons, facts, scores, '' FROM traces
             WHERE seq > ?1 AND at_s >= ?2 ORDER BY seq LIMIT ?3",
        )?;
        let rows = statement.query_map(params![after, from_s, most as u64], kept_trace)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn kept_trace(&self, trace: &TraceId) -> Result<Option<KeptTrace>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT trace, seq, at_s, sampled, probability, reasons, facts, scores, transcript FROM traces WHERE trace = ?1",
        )?;
        Ok(statement.query_row([&trace[..]], kept_trace).optional()?)
    }

    fn incomplete_drops(&self, from_ms: u64) -> Result<u64, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT count(*) FROM dropped WHERE refused > 0 AND decided_ms >= ?1")?;
        Ok(statement.query_row([from_ms], |row| row.get(0))?)
    }
}

fn keep(connection: &Connection, open: &OpenTrace, kept: &KeptTrace, now_ms: u64) -> Result<(), StoreError> {
    let existing: Option<i64> =
        connection.prepare_cached("SELECT seq FROM traces WHERE trace = ?1")?.query_row([&kept.trace[..]], |row| row.get(0)).optional()?;
    // A late span makes the trace be read again; it keeps its place and counts once.
    if existing.is_none() {
        count(connection, ProductionCounter::TracesKept, 1)?;
        count(connection, ProductionCounter::TracesSampled, u64::from(kept.sampled))?;
        // Late spans made a trace that was left out worth keeping.
        connection.prepare_cached("DELETE FROM dropped WHERE trace = ?1")?.execute([&kept.trace[..]])?;
    }
    count(connection, ProductionCounter::TracesScored, 1)?;
    let KeptTrace { trace, at_s, sampled, probability, reasons, facts, scores, transcript, .. } = kept;
    connection
        .prepare_cached(
            "INSERT INTO traces (seq, trace, at_s, decided_ms, sampled, probability, reasons, facts, scores, transcript, refused)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (trace) DO UPDATE SET at_s = ?3, decided_ms = ?4, sampled = ?5, probability = ?6, reasons = ?7, facts = ?8,
                                               scores = ?9, transcript = ?10, refused = ?11",
        )?
        .execute(params![existing, &trace[..], at_s, now_ms, sampled, probability, reasons, facts, scores, transcript, open.refused])?;
    Ok(())
}

fn drop_trace(connection: &Connection, open: &OpenTrace, now_ms: u64, counter: ProductionCounter) -> Result<(), StoreError> {
    let trace = &open.trace[..];
    connection.prepare_cached("DELETE FROM spans WHERE trace = ?1")?.execute([trace])?;
    let is_known = connection.prepare_cached("SELECT 1 FROM dropped WHERE trace = ?1")?.exists([trace])?;
    // A trace of which more spans were refused is left out again now.
    connection
        .prepare_cached(
            "INSERT INTO dropped (trace, decided_ms, refused) VALUES (?1, ?2, ?3)
             ON CONFLICT (trace) DO UPDATE SET decided_ms = ?2, refused = ?3 WHERE refused < ?3",
        )?
        .execute(params![trace, now_ms, open.refused])?;
    count(connection, counter, u64::from(!is_known))
}

fn kept_trace(row: &Row<'_>) -> rusqlite::Result<KeptTrace> {
    Ok(KeptTrace {
        trace: row.get(0)?,
        seq: row.get(1)?,
        at_s: row.get(2)?,
        sampled: row.get(3)?,
        probability: row.get(4)?,
        reasons: row.get(5)?,
        facts: row.get(6)?,
        scores: row.get(7)?,
        transcript: row.get(8)?,
    })
}
