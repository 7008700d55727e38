//! Spans that were acknowledged, and the traces that they wait for.

use super::counters::count;
use super::{PgTraces, bound, get_trace, limit};
use crate::StoreError;
use crate::postgres::{PgTransaction, get, get_count, number};
use crate::production::engine::SpanTable;
use crate::production::records::{NewSpan, OpenTrace, ProductionCounter, SpanBatch, SpanLimits, StoredSpans, TraceId};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use tokio_postgres::Row;

type SpanKey = (TraceId, [u8; 8]);

impl SpanTable for PgTraces {
    fn add_spans(&self, requests: &[SpanBatch], now_ms: u64, limits: SpanLimits) -> Result<Vec<StoredSpans>, StoreError> {
        let (requests, now) = (Arc::new(requests.to_vec()), number(now_ms)?);
        self.with_month(now_ms, |month| {
            let requests = requests.clone();
            self.transact(move |mut transaction| {
                let requests = requests.clone();
                Box::pin(async move {
                    let mut traces = OpenRows::lock(&mut transaction, &requests, month, now).await?;
                    let mut admitted = vec![];
                    let results: Vec<StoredSpans> = requests.iter().map(|batch| traces.admit(batch, limits, &mut admitted)).collect();
                    traces.store(&mut transaction, &admitted, now).await?;
                    let sum = |part: fn(&StoredSpans) -> u64| results.iter().map(part).sum();
                    let counts = [
                        (ProductionCounter::SpansStored, sum(|found| found.stored)),
                        (ProductionCounter::SpansRepeated, sum(|found| found.repeated)),
                        (ProductionCounter::SpansConflicting, sum(|found| found.conflicting)),
                        (ProductionCounter::SpansLate, sum(|found| found.late)),
                        (ProductionCounter::SpansOverLimit, sum(|found| found.over_limit)),
                    ];
                    count(&mut transaction, &counts).await?;
                    Ok(results)
                })
            })
        })
    }

    fn settled_traces(&self, now_ms: u64, settle_ms: u64, max_age_ms: u64, most: usize) -> Result<Vec<OpenTrace>, StoreError> {
        let sql = "SELECT trace, first_ms, last_ms, spans, root_ended, refused FROM open_traces
            WHERE ((last_ms <= $1 AND root_ended) OR first_ms <= $2) AND wait_until_ms <= $4 ORDER BY last_ms, trace LIMIT $3";
        let [quiet, old] = [settle_ms, max_age_ms].map(|length| bound(now_ms.saturating_sub(length)));
        let rows = self.connection.query(sql, vec![Box::new(quiet), Box::new(old), Box::new(limit(most)), Box::new(bound(now_ms))])?;
        rows.iter().map(open_trace).collect()
    }

    fn defer_trace(&self, trace: &TraceId, until_ms: u64) -> Result<(), StoreError> {
        let (trace, until) = (*trace, number(until_ms)?);
        self.transact(move |mut transaction| {
            Box::pin(async move {
                let sql = "UPDATE open_traces SET wait_until_ms = $2 WHERE trace = $1";
                transaction.query(sql, &[&&trace[..], &until]).await.map(drop)
            })
        })
    }

    fn oldest_open_ms(&self) -> Result<Option<u64>, StoreError> {
        let rows = self.connection.query("SELECT min(last_ms) FROM open_traces", vec![])?;
        let oldest: Option<i64> = rows.first().map_or(Ok(None), |row| get(row, 0))?;
        Ok(oldest.map(|oldest| u64::try_from(oldest).unwrap_or_default()))
    }

    fn overdue_traces(&self, before_ms: u64) -> Result<u64, StoreError> {
        let rows = self.connection.query("SELECT count(*) FROM open_traces WHERE first_ms < $1", vec![Box::new(bound(before_ms))])?;
        rows.first().map_or(Ok(0), |row| get_count(row, 0))
    }

    fn open_trace_count(&self) -> Result<u64, StoreError> {
        self.connection.query("SELECT count(*) FROM open_traces", vec![])?.first().map_or(Ok(0), |row| get_count(row, 0))
    }

    fn spans_of(&self, trace: &TraceId) -> Result<Vec<Vec<u8>>, StoreError> {
        let rows = self.connection.query("SELECT body FROM spans WHERE trace = $1 ORDER BY span", vec![Box::new(trace.to_vec())])?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    fn span_count(&self) -> Result<u64, StoreError> {
        self.connection.query("SELECT count(*) FROM spans", vec![])?.first().map_or(Ok(0), |row| get_count(row, 0))
    }
}

/// Rows of the traces of a group, locked until the commit, and what the group changes in them.
struct OpenRows<'s> {
    rows: BTreeMap<TraceId, OpenRow>,
    /// Bodies of the spans of the group that are stored.
    known: HashMap<SpanKey, Cow<'s, [u8]>>,
}

#[derive(Default)]
struct OpenRow {
    month: i32,
    /// Spans and bytes so far.
    spans: u64,
    bytes: u64,
    /// The row was made by this group.
    is_new: bool,
    /// Bytes of a kept trace that grows again.
    decided_bytes: u64,
    /// The trace was left out before.
    is_dropped: bool,
    /// Spans that were refused before a decision on the trace.
    refused_before: u64,
    added_spans: u64,
    added_bytes: u64,
    root_ended: bool,
    refused: u64,
}

impl OpenRow {
    /// Makes a trace that is read again as incomplete as it was. The row of an open trace has these refusals.
    fn add_earlier_refusals(&mut self, refused: u64) {
        if self.is_new {
            self.refused_before = self.refused_before.max(refused);
        }
    }
}

impl<'s> OpenRows<'s> {
    /// Creates the rows that are missing and locks all, in one order by all writers. Afterwards no other writer can decide on the traces.
    async fn lock(transaction: &mut PgTransaction<'_>, requests: &'s [SpanBatch], month: i32, now: i64) -> Result<Self, StoreError> {
        let traces = |batch: &SpanBatch| -> Vec<TraceId> {
            batch.spans.iter().map(|span| span.trace).chain(batch.refused.iter().map(|(trace, _)| *trace)).collect()
        };
        let ids: BTreeSet<TraceId> = requests.iter().flat_map(traces).collect();
        let ids: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
        let lock = "INSERT INTO open_traces (trace, month, first_ms, last_ms, spans, bytes, root_ended)
            SELECT trace, $2, $3, $3, 0, 0, false FROM unnest($1::bytea[]) AS given (trace)
            ON CONFLICT (trace) DO UPDATE SET month = open_traces.month RETURNING trace, month, spans, bytes, refused";
        let mut rows = BTreeMap::new();
        for row in &transaction.query(lock, &[&ids, &month, &now]).await? {
            let (spans, bytes) = (get_count(row, 2)?, get_count(row, 3)?);
            // A row is stored only for spans that came.
            let is_new = spans + get_count(row, 4)? == 0;
            let open = OpenRow { month: get(row, 1)?, spans, bytes, is_new, ..OpenRow::default() };
            rows.insert(get_trace(row, 0)?, open);
        }
        let mut found = Self { rows, known: HashMap::new() };
        found.find_decided(transaction).await?;
        found.find_known(transaction, requests).await?;
        Ok(found)
    }

    /// Looks up the traces among those that were decided before.
    async fn find_decided(&mut self, transaction: &mut PgTransaction<'_>) -> Result<(), StoreError> {
        let all: Vec<Vec<u8>> = self.rows.keys().map(|id| id.to_vec()).collect();
        for row in &transaction.query("SELECT trace, refused FROM dropped WHERE trace = ANY ($1)", &[&all]).await? {
            let open = self.rows.entry(get_trace(row, 0)?).or_default();
            open.is_dropped = true;
            open.add_earlier_refusals(get_count(row, 1)?);
        }
        let new: Vec<Vec<u8>> = self.rows.iter().filter(|(_, row)| row.is_new).map(|(id, _)| id.to_vec()).collect();
        if new.is_empty() {
            return Ok(());
        }
        let mut kept = vec![];
        // A kept trace that grows again stays in its month.
        for row in &transaction.query("SELECT trace, month, refused FROM traces WHERE trace = ANY ($1)", &[&new]).await? {
            let id = get_trace(row, 0)?;
            let open = self.rows.entry(id).or_default();
            open.month = get(row, 1)?;
            open.add_earlier_refusals(get_count(row, 2)?);
            kept.push(id.to_vec());
        }
        if kept.is_empty() {
            return Ok(());
        }
        // It is bounded as a whole.
        let sizes = "SELECT trace, count(*), coalesce(sum(length(body)), 0)::bigint FROM spans WHERE trace = ANY ($1) GROUP BY trace";
        for row in &transaction.query(sizes, &[&kept]).await? {
            let open = self.rows.entry(get_trace(row, 0)?).or_default();
            (open.spans, open.bytes) = (get_count(row, 1)?, get_count(row, 2)?);
            open.decided_bytes = open.bytes;
        }
        Ok(())
    }

    async fn find_known(&mut self, transaction: &mut PgTransaction<'_>, requests: &[SpanBatch]) -> Result<(), StoreError> {
        let given = requests.iter().flat_map(|batch| &batch.spans);
        let (traces, spans): (Vec<&[u8]>, Vec<&[u8]>) = given.map(|span| (&span.trace[..], &span.span[..])).unzip();
        let sql =
            "SELECT trace, span, body FROM spans JOIN (SELECT DISTINCT * FROM unnest($1::bytea[], $2::bytea[]) AS given (trace, span)) AS given
            USING (trace, span)";
        for row in &transaction.query(sql, &[&traces, &spans]).await? {
            let span: &[u8] = get(row, 1)?;
            let span = span.try_into().map_err(|error| StoreError::unreadable("of a span", &error))?;
            self.known.insert((get_trace(row, 0)?, span), Cow::Owned(get(row, 2)?));
        }
        Ok(())
    }

    /// Sorts the spans of a request into those to store and the others.
    fn admit(&mut self, batch: &'s SpanBatch, limits: SpanLimits, admitted: &mut Vec<&'s NewSpan>) -> StoredSpans {
        let mut found = StoredSpans::default();
        for (trace, refused) in &batch.refused {
            self.rows.entry(*trace).or_default().refused += refused;
        }
        for span in &batch.spans {
            let row = self.rows.entry(span.trace).or_default();
            let size = span.body.len() as u64;
            // A span that is stored is not lost if it comes again. Another one with its id is.
            if let Some(stored) = self.known.get(&(span.trace, span.span)) {
                let is_same = **stored == span.body[..];
                *(if is_same { &mut found.repeated } else { &mut found.conflicting }) += 1;
                row.refused += u64::from(!is_same);
            } else if row.spans + row.added_spans >= limits.spans || row.bytes + row.added_bytes + size > limits.bytes {
                found.over_limit += 1;
                row.refused += 1;
            } else {
                self.known.insert((span.trace, span.span), Cow::Borrowed(&span.body));
                // Spans of a trace that was left out are not counted again.
                *(if row.is_dropped { &mut found.late } else { &mut found.stored }) += 1;
                row.added_spans += 1;
                row.added_bytes += size;
                row.root_ended |= span.is_root;
                admitted.push(span);
            }
        }
        found
    }

    /// Stores spans, lets their traces grow, and removes the rows that are not needed.
    async fn store(&self, transaction: &mut PgTransaction<'_>, admitted: &[&NewSpan], now: i64) -> Result<(), StoreError> {
        let months: Vec<i32> = admitted.iter().map(|span| self.rows.get(&span.trace).map_or(0, |row| row.month)).collect();
        let (traces, spans): (Vec<&[u8]>, Vec<&[u8]>) = admitted.iter().map(|span| (&span.trace[..], &span.span[..])).unzip();
        let bodies: Vec<&[u8]> = admitted.iter().map(|span| &span.body[..]).collect();
        if !admitted.is_empty() {
            let insert = "INSERT INTO spans (month, trace, span, received_ms, body)
                SELECT month, trace, span, $5, body FROM unnest($1::integer[], $2::bytea[], $3::bytea[], $4::bytea[]) AS given (month, trace, span, body)";
            transaction.query(insert, &[&months, &traces, &spans, &bodies, &now]).await?;
        }
        let grown: Vec<_> = self.rows.iter().filter(|(_, row)| row.added_spans + row.refused > 0).collect();
        let ids: Vec<&[u8]> = grown.iter().map(|(id, _)| &id[..]).collect();
        let months: Vec<i32> = grown.iter().map(|(_, row)| row.month).collect();
        let spans: Vec<i64> = grown.iter().map(|(_, row)| bound(row.spans + row.added_spans)).collect();
        let bytes: Vec<i64> = grown.iter().map(|(_, row)| bound(row.bytes + row.added_bytes)).collect();
        let decided: Vec<i64> = grown.iter().map(|(_, row)| bound(row.decided_bytes)).collect();
        let refused: Vec<i64> = grown.iter().map(|(_, row)| bound(row.refused + row.refused_before)).collect();
        let ended: Vec<bool> = grown.iter().map(|(_, row)| row.root_ended).collect();
        let grow = "UPDATE open_traces AS open SET last_ms = greatest(last_ms, $6), month = given.month, spans = given.spans,
                bytes = given.bytes, root_ended = open.root_ended OR given.ended, refused = open.refused + given.refused,
                decided_bytes = open.decided_bytes + given.decided
            FROM unnest($1::bytea[], $2::integer[], $3::bigint[], $4::bigint[], $5::boolean[], $7::bigint[], $8::bigint[])
                AS given (trace, month, spans, bytes, ended, refused, decided)
            WHERE open.trace = given.trace";
        transaction.query(grow, &[&ids, &months, &spans, &bytes, &ended, &now, &refused, &decided]).await?;
        let is_unused = |row: &OpenRow| row.is_new && row.added_spans + row.refused == 0;
        let unused: Vec<&[u8]> = self.rows.iter().filter(|(_, row)| is_unused(row)).map(|(id, _)| &id[..]).collect();
        if !unused.is_empty() {
            transaction.query("DELETE FROM open_traces WHERE trace = ANY ($1)", &[&unused]).await?;
        }
        Ok(())
    }
}

fn open_trace(row: &Row) -> Result<OpenTrace, StoreError> {
    Ok(OpenTrace {
        trace: get_trace(row, 0)?,
        first_ms: get_count(row, 1)?,
        last_ms: get_count(row, 2)?,
        spans: get_count(row, 3)?,
        root_ended: get(row, 4)?,
        refused: get_count(row, 5)?,
    })
}
