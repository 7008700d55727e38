//! Traces that were decided: kept with their scores, or left out.

use super::counters::count;
use super::{PgTraces, bound, get_trace, limit};
use crate::StoreError;
use crate::postgres::{PgTransaction, encode, get, get_count, get_text, number};
use crate::production::engine::TraceTable;
use crate::production::records::{KeptTrace, OpenTrace, ProductionCounter, TraceDecision, TraceId};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_postgres::Row;

const KEEP: &str =
    "INSERT INTO traces (month, trace, at_s, decided_ms, sampled, probability, reasons, facts, scores, transcript, bytes, refused)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (trace, month) DO UPDATE SET at_s = excluded.at_s, decided_ms = excluded.decided_ms, sampled = excluded.sampled,
        probability = excluded.probability, reasons = excluded.reasons, facts = excluded.facts, scores = excluded.scores,
        transcript = excluded.transcript, bytes = excluded.bytes, refused = excluded.refused";

impl TraceTable for PgTraces {
    fn decide(&self, decisions: &[(OpenTrace, TraceDecision)], now_ms: u64) -> Result<u64, StoreError> {
        if decisions.is_empty() {
            return Ok(0);
        }
        let (decisions, now) = (Arc::new(decisions.to_vec()), number(now_ms)?);
        self.with_month(now_ms, |month| {
            let decisions = decisions.clone();
            self.transact_in_turn(move |mut transaction| {
                let decisions = decisions.clone();
                Box::pin(async move {
                    let mut change = DecidedTraces::default();
                    let months = close(&mut transaction, &decisions).await?;
                    for (open, decision) in decisions.iter() {
                        let Some(trace_month) = months.get(&open.trace) else { continue };
                        match decision {
                            TraceDecision::Keep(kept) => {
                                change.keep(&mut transaction, kept, bound(open.refused), (*trace_month, now)).await?;
                            }
                            TraceDecision::Drop => change.dropped.push((open.trace, bound(open.refused))),
                            TraceDecision::Unreadable => change.unreadable.push((open.trace, bound(open.refused))),
                        }
                    }
                    change.finish(&mut transaction, (month, now)).await?;
                    Ok(months.len() as u64)
                })
            })
        })
    }

    fn kept_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<KeptTrace>, StoreError> {
        let sql = "SELECT trace, seq, at_s, sampled, probability, reasons, facts, scores, '' FROM traces
            WHERE seq > $1 AND at_s >= $2 ORDER BY seq LIMIT $3";
        let rows = self.connection.query(sql, vec![Box::new(bound(after)), Box::new(bound(from_s)), Box::new(limit(most))])?;
        rows.iter().map(kept_trace).collect()
    }

    fn kept_trace(&self, trace: &TraceId) -> Result<Option<KeptTrace>, StoreError> {
        let sql = "SELECT trace, seq, at_s, sampled, probability, reasons, facts, scores, transcript FROM traces WHERE trace = $1";
        self.connection.query(sql, vec![Box::new(trace.to_vec())])?.first().map(kept_trace).transpose()
    }

    fn incomplete_drops(&self, from_ms: u64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM dropped WHERE refused > 0 AND decided_ms >= $1";
        self.connection.query(sql, vec![Box::new(bound(from_ms))])?.first().map_or(Ok(0), |row| get_count(row, 0))
    }
}

/// Removes the rows of open traces that got no span and no refusal since they were read, and returns their months.
async fn close(
    transaction: &mut PgTransaction<'_>,
    decisions: &[(OpenTrace, TraceDecision)],
) -> Result<BTreeMap<TraceId, i32>, StoreError> {
    let mut seen: Vec<&OpenTrace> = decisions.iter().map(|(open, _)| open).collect();
    seen.sort_unstable_by_key(|open| open.trace);
    let ids: Vec<&[u8]> = seen.iter().map(|open| &open.trace[..]).collect();
    let (spans, refused): (Vec<i64>, Vec<i64>) = seen.iter().map(|open| (bound(open.spans), bound(open.refused))).unzip();
    // Locks the rows in the order of those who add spans.
    let lock = "SELECT 1 FROM open_traces WHERE trace = ANY ($1) ORDER BY trace FOR UPDATE";
    transaction.query(lock, &[&ids]).await?;
    let delete = "DELETE FROM open_traces AS open USING unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS given (trace, spans, refused)
        WHERE open.trace = given.trace AND open.spans = given.spans AND open.refused = given.refused RETURNING open.trace, open.month";
    let closed = transaction.query(delete, &[&ids, &spans, &refused]).await?;
    closed.iter().map(|row| Ok((get_trace(row, 0)?, get(row, 1)?))).collect()
}

/// Decisions of one commit.
#[derive(Default)]
struct DecidedTraces {
    /// Traces that were not kept before.
    kept: Vec<TraceId>,
    sampled: u64,
    scored: u64,
    /// Traces that are left out, with the number of their refused spans.
    dropped: Vec<(TraceId, i64)>,
    unreadable: Vec<(TraceId, i64)>,
    /// Traces and bytes that months gain.
    months: BTreeMap<i32, (i64, i64)>,
}

impl DecidedTraces {
    async fn keep(
        &mut self,
        transaction: &mut PgTransaction<'_>,
        kept: &KeptTrace,
        refused: i64,
        (month, now): (i32, i64),
    ) -> Result<(), StoreError> {
        let id = &kept.trace[..];
        let before = transaction.query("SELECT bytes FROM traces WHERE trace = $1 AND month = $2", &[&id, &month]).await?;
        let before: Option<i64> = before.first().map(|row| get(row, 0)).transpose()?;
        let spans = "SELECT coalesce(sum(length(body)), 0)::bigint FROM spans WHERE trace = $1 AND month = $2";
        let spans = transaction.query(spans, &[&id, &month]).await?;
        let [reasons, facts, scores, transcript] = [&kept.reasons, &kept.facts, &kept.scores, &kept.transcript].map(|text| encode(text));
        let texts = reasons.len() + facts.len() + scores.len() + transcript.len();
        let bytes = spans.first().map_or(Ok(0), |row| get::<i64>(row, 0))? + bound(texts as u64);
        let at = number(kept.at_s)?;
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 12] =
            [&month, &id, &at, &now, &kept.sampled, &kept.probability, &reasons, &facts, &scores, &transcript, &bytes, &refused];
        transaction.query(KEEP, &values).await?;
        // A late span makes the trace be read again; it keeps its place and counts once.
        if before.is_none() {
            self.kept.push(kept.trace);
            self.sampled += u64::from(kept.sampled);
        }
        self.scored += 1;
        let gain = self.months.entry(month).or_default();
        gain.0 += i64::from(before.is_none());
        gain.1 += bytes - before.unwrap_or_default();
        Ok(())
    }

    async fn finish(&self, transaction: &mut PgTransaction<'_>, (month, now): (i32, i64)) -> Result<(), StoreError> {
        let dropped = drop_traces(transaction, &self.dropped, (month, now)).await?;
        let unreadable = drop_traces(transaction, &self.unreadable, (month, now)).await?;
        // Late spans made a trace that was left out worth keeping.
        let kept: Vec<&[u8]> = self.kept.iter().map(|id| &id[..]).collect();
        if !kept.is_empty() {
            transaction.query("DELETE FROM dropped WHERE trace = ANY ($1)", &[&kept]).await?;
        }
        for (month, (traces, bytes)) in &self.months {
            let sql = "INSERT INTO months (month, traces, bytes) VALUES ($1, $2, $3)
                ON CONFLICT (month) DO UPDATE SET traces = months.traces + excluded.traces, bytes = months.bytes + excluded.bytes";
            transaction.query(sql, &[month, traces, bytes]).await?;
        }
        let counts = [
            (ProductionCounter::TracesKept, self.kept.len() as u64),
            (ProductionCounter::TracesSampled, self.sampled),
            (ProductionCounter::TracesScored, self.scored),
            (ProductionCounter::TracesDropped, dropped),
            (ProductionCounter::TracesUnreadable, unreadable),
        ];
        count(transaction, &counts).await
    }
}

/// Removes the spans of traces and remembers their ids. Returns the number of those that were not left out before.
async fn drop_traces(transaction: &mut PgTransaction<'_>, traces: &[(TraceId, i64)], (month, now): (i32, i64)) -> Result<u64, StoreError> {
    if traces.is_empty() {
        return Ok(0);
    }
    let (ids, refused): (Vec<&[u8]>, Vec<i64>) = traces.iter().map(|(id, refused)| (&id[..], *refused)).unzip();
    transaction.query("DELETE FROM spans WHERE trace = ANY ($1)", &[&ids]).await?;
    // A trace of which more spans were refused is left out again now, in this month.
    let forget = "DELETE FROM dropped USING unnest($1::bytea[], $2::bigint[]) AS given (trace, refused)
        WHERE dropped.trace = given.trace AND dropped.refused < given.refused RETURNING 1";
    let again = transaction.query(forget, &[&ids, &refused]).await?.len();
    let sql = "INSERT INTO dropped (month, trace, decided_ms, refused)
        SELECT $3, trace, $4, refused FROM unnest($1::bytea[], $2::bigint[]) AS given (trace, refused)
        WHERE NOT EXISTS (SELECT 1 FROM dropped WHERE dropped.trace = given.trace) ON CONFLICT DO NOTHING RETURNING 1";
    Ok(transaction.query(sql, &[&ids, &refused, &month, &now]).await?.len().saturating_sub(again) as u64)
}

fn kept_trace(row: &Row) -> Result<KeptTrace, StoreError> {
    Ok(KeptTrace {
        trace: get_trace(row, 0)?,
        seq: get_count(row, 1)?,
        at_s: get_count(row, 2)?,
        sampled: get(row, 3)?,
        probability: get(row, 4)?,
        reasons: get_text(row, 5)?,
        facts: get_text(row, 6)?,
        scores: get_text(row, 7)?,
        transcript: get_text(row, 8)?,
    })
}
