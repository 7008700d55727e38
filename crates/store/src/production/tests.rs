use super::*;

const LIMITS: SpanLimits = SpanLimits { spans: 5, bytes: 1_000 };

fn store() -> (tempfile::TempDir, ProductionStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = ProductionStore::open(&folder.path().join("production.sqlite")).unwrap();
    (folder, store)
}

fn span(trace: u8, n: u8, is_root: bool) -> NewSpan {
    NewSpan { trace: [trace; 16], span: [n; 8], is_root, body: format!("{{\"n\":{n}}}").into_bytes() }
}

/// Stores one request.
fn add(store: &ProductionStore, spans: &[NewSpan], now_ms: u64) -> StoredSpans {
    store.add_spans(&[spans.to_vec()], now_ms, LIMITS).unwrap()[0]
}

fn kept(trace: u8) -> TraceDecision {
    TraceDecision::Keep(Box::new(KeptTrace {
        trace: [trace; 16],
        seq: 0,
        at_s: u64::from(trace),
        sampled: true,
        probability: 0.01,
        reasons: String::new(),
        facts: "{}".into(),
        scores: "[]".into(),
        transcript: "{}".into(),
    }))
}

fn counted(store: &ProductionStore, counter: ProductionCounter) -> u64 {
    store.counters().unwrap().into_iter().find(|(found, _)| *found == counter).unwrap().1
}

#[test]
fn repeated_spans_are_stored_and_counted_once() {
    let (_folder, store) = store();
    let first = add(&store, &[span(1, 1, true), span(1, 2, false), span(1, 1, true)], 10);
    assert_eq!(first, StoredSpans { stored: 2, repeated: 1, ..StoredSpans::default() });
    let again = add(&store, &[span(1, 1, true), span(1, 2, false)], 20);
    assert_eq!(again, StoredSpans { repeated: 2, ..StoredSpans::default() });
    assert_eq!((store.span_count().unwrap(), counted(&store, ProductionCounter::SpansStored)), (2, 2));
    assert_eq!(store.settled_traces(20, 10, 1_000, 10).unwrap()[0].spans, 2, "a repetition does not disturb the quiet");
}

#[test]
fn spans_beyond_the_limits_of_a_trace_are_refused() {
    let (_folder, store) = store();
    let many: Vec<NewSpan> = (0..9).map(|n| span(1, n, false)).collect();
    assert_eq!(add(&store, &many, 0), StoredSpans { stored: 5, over_limit: 4, ..StoredSpans::default() });
    let large = NewSpan { body: vec![b'x'; 1_001], ..span(2, 1, false) };
    assert_eq!(add(&store, &[large], 0).over_limit, 1);
}

#[test]
fn traces_settle_when_their_root_ended_and_they_are_quiet_or_old() {
    let (_folder, store) = store();
    add(&store, &[span(1, 1, true), span(2, 1, false)], 1_000);
    let settled = |now| store.settled_traces(now, 500, 10_000, 10).unwrap().iter().map(|open| open.trace[0]).collect::<Vec<_>>();
    assert!(settled(1_400).is_empty());
    assert_eq!(settled(1_500), [1]);
    add(&store, &[span(1, 2, false)], 1_600);
    assert!(settled(1_700).is_empty(), "another span came");
    assert_eq!(settled(11_000), [2, 1], "a trace without a root is decided when it is old");
}

#[test]
fn a_trace_that_grew_meanwhile_stays_open() {
    let (_folder, store) = store();
    add(&store, &[span(1, 1, true)], 0);
    let open = store.settled_traces(100, 10, 1_000, 10).unwrap()[0];
    add(&store, &[span(1, 2, false)], 50);
    assert_eq!(store.decide(&[(open, TraceDecision::Drop)], 100).unwrap(), 0);
    let open = store.settled_traces(100, 10, 1_000, 10).unwrap()[0];
    assert_eq!(store.decide(&[(open, kept(1))], 100).unwrap(), 1);
    assert_eq!(store.kept_trace(&[1; 16]).unwrap().unwrap().seq, 1);
}

#[test]
fn late_spans_reopen_kept_traces_and_are_counted_for_dropped_ones() {
    let (_folder, store) = store();
    add(&store, &[span(1, 1, true), span(2, 1, true)], 0);
    let open = store.settled_traces(100, 10, 1_000, 10).unwrap();
    store.decide(&[(open[0], kept(1)), (open[1], TraceDecision::Drop)], 100).unwrap();
    assert_eq!(store.span_count().unwrap(), 1);
    let late = add(&store, &[span(1, 2, false), span(2, 2, false), span(2, 1, true)], 200);
    assert_eq!(late, StoredSpans { stored: 1, late: 2, ..StoredSpans::default() });
    let open = store.settled_traces(5_000, 10, 1_000, 10).unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(store.spans_of(&[1; 16]).unwrap().len(), 2, "read again with all spans");
    store.decide(&[(open[0], kept(1))], 300).unwrap();
    assert_eq!((counted(&store, ProductionCounter::TracesKept), store.kept_traces(0, 0, 10).unwrap().len()), (1, 1));
}

#[test]
fn retention_removes_by_age_and_size() {
    let (_folder, store) = store();
    for trace in 0..20 {
        let body = vec![b'x'; 900];
        add(&store, &[NewSpan { body, ..span(trace, 1, true) }], 0);
        let open = store.settled_traces(100, 0, 1_000, 10).unwrap();
        store.decide(&[(open[0], kept(trace))], u64::from(trace) * 86_400_000).unwrap();
    }
    let now = 20 * 86_400_000;
    assert_eq!(store.retain(now, 10, u64::MAX).unwrap(), RetentionResult { by_age: 10, by_size: 0 });
    assert_eq!(store.span_count().unwrap(), 10);
    assert_eq!(store.retain(now, 10, 0).unwrap().by_size, 10);
    assert!(store.kept_traces(0, 0, 100).unwrap().is_empty());
    assert_eq!(add(&store, &[span(19, 1, true)], now).late, 1, "a removed trace does not come back");
}

#[test]
fn alerts_of_one_key_cool_down() {
    let (_folder, store) = store();
    assert_eq!(store.raise_alert("gate a", 1_000, 600, "{}").unwrap(), Some(1));
    assert_eq!(store.raise_alert("gate a", 1_300, 600, "{}").unwrap(), None);
    assert_eq!(store.raise_alert("gate b", 1_300, 600, "{}").unwrap(), Some(2));
    assert_eq!(store.raise_alert("gate a", 1_601, 600, "{}").unwrap(), Some(3));
    store.alert_sent(1, 1_001).unwrap();
    assert_eq!(store.alerts(0, 10).unwrap().iter().map(|alert| alert.sent_s).collect::<Vec<_>>(), [None, None, Some(1_001)]);
}

#[test]
fn a_store_of_runs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    drop(crate::Store::open(&path, crate::tests::all_pass).unwrap());
    assert!(matches!(ProductionStore::open(&path), Err(StoreError::NotProduction)));
}
