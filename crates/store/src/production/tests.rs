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

#[test]
fn deferred_traces_wait_and_keep_their_place() {
    let (_folder, store) = store();
    add(&store, &[span(1, 1, true)], 10);
    store.defer_trace(&[1; 16], 500).unwrap();
    assert!(store.settled_traces(499, 10, 100, 10).unwrap().is_empty());
    assert_eq!(store.settled_traces(500, 10, 100, 10).unwrap().len(), 1);
}

#[test]
fn receipts_are_asked_for_until_answered_once() {
    let (_folder, store) = store();
    let wanted = [(8453, "0xaa".to_owned())];
    assert_eq!(store.want_receipts(&wanted, 10).unwrap(), [ReceiptState::Wanted]);
    let due = store.due_receipts(8453, 10, 5).unwrap();
    assert_eq!(due, [WantedReceipt { chain: 8453, hash: "0xaa".into(), attempts: 0 }]);
    assert!(store.due_receipts(1, 10, 5).unwrap().is_empty(), "another chain");
    store.retry_receipt(&due[0], 100).unwrap();
    assert!(store.due_receipts(8453, 99, 5).unwrap().is_empty());
    assert_eq!(store.due_receipts(8453, 100, 5).unwrap()[0].attempts, 1);
    store.answer_receipt(&due[0], "first", ProductionCounter::ReceiptsDecoded).unwrap();
    store.answer_receipt(&due[0], "second", ProductionCounter::ReceiptsFailed).unwrap();
    assert_eq!(store.want_receipts(&wanted, 20).unwrap(), [ReceiptState::Known("first".into())]);
    assert!(store.due_receipts(8453, 1_000, 5).unwrap().is_empty());
    assert_eq!((counted(&store, ProductionCounter::ReceiptsDecoded), counted(&store, ProductionCounter::ReceiptsFailed)), (1, 0));
}

#[test]
fn the_money_of_a_day_is_a_hard_cap_for_all_connections() {
    let (folder, store) = store();
    let other = ProductionStore::open(&folder.path().join("production.sqlite")).unwrap();
    let limit = DayLimit { day: 7, nanos: 100 };
    assert_eq!(store.reserve_judge_call("a", limit, 60).unwrap(), CallReservation::Reserved);
    assert_eq!(other.reserve_judge_call("b", limit, 60).unwrap(), CallReservation::TooLittle { left: 40 });
    // A process that died in between leaves its call at the ceiling.
    assert_eq!(other.judge_spending(7).unwrap(), 60);
    store.settle_judge_call("a", 10, Some("reply")).unwrap();
    assert_eq!(other.reserve_judge_call("b", limit, 60).unwrap(), CallReservation::Reserved);
    other.settle_judge_call("b", 5, None).unwrap();
    assert_eq!((store.judge_spending(7).unwrap(), store.judge_spending(8).unwrap()), (15, 0));
    assert_eq!(store.settled_judge_call("a").unwrap(), Some((10, "reply".into())));
    assert_eq!(store.settled_judge_call("b").unwrap(), None);
}

#[test]
fn traces_are_judged_again_only_if_they_were_decided_again() {
    let (_folder, store) = store();
    add(&store, &[span(1, 1, true)], 10);
    let open = store.settled_traces(20, 10, 100, 10).unwrap()[0];
    store.decide(&[(open, kept(1))], 20).unwrap();
    assert_eq!(store.unjudged_traces(0, 0, 10).unwrap(), [(1, [1; 16])]);
    let text = |word: &str| word.to_owned();
    let judgement = NewJudgement { trace: [1; 16], at_s: 1, sampled: true, question: text("q"), answer: text("a"), score: text("s") };
    store.add_judgement(&judgement, ProductionCounter::TracesJudged, 30).unwrap();
    assert!(store.unjudged_traces(0, 0, 10).unwrap().is_empty());
    assert_eq!(store.judgement_of(&[1; 16]).unwrap().unwrap().judgement, judgement);
    assert_eq!(store.judgements(0, 0, 10).unwrap().len(), 1);
    add(&store, &[span(1, 2, false)], 40);
    let open = store.settled_traces(60, 10, 20, 10).unwrap()[0];
    store.decide(&[(open, kept(1))], 60).unwrap();
    assert_eq!(store.unjudged_traces(0, 0, 10).unwrap().len(), 1);
}

#[test]
fn files_of_version_1_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("production.sqlite");
    let store = ProductionStore::open(&path).unwrap();
    store.raise_alert("k", 5, 0, "{}").unwrap();
    store
        .connection
        .execute_batch(
            "DROP TABLE receipts; DROP TABLE judgements; DROP TABLE judge_calls;
             ALTER TABLE open_traces DROP COLUMN wait_until_ms; PRAGMA user_version = 1;",
        )
        .unwrap();
    drop(store);
    let store = ProductionStore::open(&path).unwrap();
    assert!(store.undelivered_alerts(0, 10).unwrap().is_empty(), "old alerts are not sent again");
    let n = store.raise_alert("other", 6, 0, "{}").unwrap().unwrap();
    assert_eq!(store.undelivered_alerts(0, 10).unwrap().len(), 1);
    store.alert_sent(n, 7).unwrap();
    assert!(store.undelivered_alerts(0, 10).unwrap().is_empty());
    store.defer_trace(&[1; 16], 5).unwrap();
    assert_eq!(store.judge_spending(0).unwrap(), 0);
}
