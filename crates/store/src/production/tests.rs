//! Tests of a store of production traces, on both engines.

use super::engine::{AlertTable, ReceiptTable};
use super::sqlite::SqliteTraces;
use super::*;
use crate::postgres::{PgConnection, PgFault};
use crate::tests::TestPlace;
use crate::{StoreError, StoreLocation};

const LIMITS: SpanLimits = SpanLimits { spans: 5, bytes: 1_000 };

/// Makes a test on each engine of every function.
macro_rules! on_both_engines {
    ($($test:ident)*) => {
        $(mod $test {
            use crate::tests::TestPlace;

            #[test]
            fn on_sqlite() {
                super::super::$test(&TestPlace::sqlite());
            }

            #[test]
            fn on_postgres() {
                super::super::$test(&TestPlace::postgres());
            }
        })*
    };
}

mod engines {
    on_both_engines! {
        repeated_spans_are_stored_and_counted_once
        spans_beyond_the_limits_of_a_trace_are_refused
        other_spans_with_a_stored_id_are_refused_and_noted
        repetitions_in_a_full_trace_are_not_refused
        refusals_outlive_the_decision_on_their_trace
        a_trace_that_lost_spans_meanwhile_stays_open
        incomplete_traces_that_are_left_out_are_counted
        spending_is_added_up_by_wallet_and_day_over_traces
        days_with_a_transaction_of_unknown_value_are_unknown
        times_without_a_collector_are_noted_once
        marks_only_grow
        traces_settle_when_their_root_ended_and_they_are_quiet_or_old
        a_trace_that_grew_meanwhile_stays_open
        late_spans_reopen_kept_traces_and_are_counted_for_dropped_ones
        retention_removes_by_age_and_size
        alerts_of_one_key_cool_down
        deferred_traces_wait_and_keep_their_place
        receipts_are_asked_for_until_answered_once
        the_money_of_a_day_is_a_hard_cap_for_all_connections
        traces_are_judged_again_only_if_they_were_decided_again
        traces_keep_their_seq_and_place
        texts_and_missing_stores_are_the_same
        decisions_and_spans_of_many_connections_agree
    }
}

fn open(place: &TestPlace) -> ProductionStore {
    ProductionStore::open(&place.location).unwrap()
}

fn span(trace: u8, n: u8, is_root: bool) -> NewSpan {
    NewSpan { trace: [trace; 16], span: [n; 8], is_root, body: format!("{{\"n\":{n}}}").into_bytes() }
}

/// Stores one request.
fn add(store: &ProductionStore, spans: &[NewSpan], now_ms: u64) -> StoredSpans {
    store.add_spans(&[spans.to_vec().into()], now_ms, LIMITS).unwrap()[0]
}

/// Notes that the caller refused spans of a trace.
fn refuse(store: &ProductionStore, trace: u8, spans: u64, now_ms: u64) {
    let batch = SpanBatch { spans: vec![], refused: vec![([trace; 16], spans)] };
    assert_eq!(store.add_spans(&[batch], now_ms, LIMITS).unwrap(), [StoredSpans::default()]);
}

/// Returns the open traces with their refused spans.
fn refused(store: &ProductionStore) -> Vec<(u8, u64)> {
    let open = store.settled_traces(u64::MAX >> 1, 0, 0, 10).unwrap();
    open.iter().map(|open| (open.trace[0], open.refused)).collect()
}

/// Decides on the only open trace.
fn decide_one(store: &ProductionStore, decision: TraceDecision, now_ms: u64) {
    let open = store.settled_traces(u64::MAX >> 1, 0, 0, 10).unwrap();
    assert_eq!((open.len(), store.decide(&[(open[0], decision)], now_ms).unwrap()), (1, 1));
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

pub(super) fn repeated_spans_are_stored_and_counted_once(place: &TestPlace) {
    let store = open(place);
    let first = add(&store, &[span(1, 1, true), span(1, 2, false), span(1, 1, true)], 10);
    assert_eq!(first, StoredSpans { stored: 2, repeated: 1, ..StoredSpans::default() });
    let again = add(&store, &[span(1, 1, true), span(1, 2, false)], 20);
    assert_eq!(again, StoredSpans { repeated: 2, ..StoredSpans::default() });
    assert_eq!((store.span_count().unwrap(), counted(&store, ProductionCounter::SpansStored)), (2, 2));
    assert_eq!(store.settled_traces(20, 10, 1_000, 10).unwrap()[0].spans, 2, "a repetition does not disturb the quiet");
}

pub(super) fn spans_beyond_the_limits_of_a_trace_are_refused(place: &TestPlace) {
    let store = open(place);
    let many: Vec<NewSpan> = (0..9).map(|n| span(1, n, false)).collect();
    assert_eq!(add(&store, &many, 0), StoredSpans { stored: 5, over_limit: 4, ..StoredSpans::default() });
    let large = NewSpan { body: vec![b'x'; 1_001], ..span(2, 1, false) };
    assert_eq!(add(&store, &[large], 0).over_limit, 1);
    let open = store.settled_traces(2_000, 0, 1_000, 10).unwrap();
    assert_eq!(open.iter().map(|open| (open.spans, open.refused)).collect::<Vec<_>>(), [(5, 4), (0, 1)], "such a trace is incomplete");
    // The bound holds for all spans of a trace, also of one that was decided before.
    store.decide(&[(open[0], kept(1))], 2_000).unwrap();
    assert_eq!(add(&store, &[span(1, 99, false)], 3_000).over_limit, 1);
}

/// A sender that takes the id of another span hides it, and is not believed about which of the two is true.
pub(super) fn other_spans_with_a_stored_id_are_refused_and_noted(place: &TestPlace) {
    let store = open(place);
    let other = |n: u8| NewSpan { body: b"another body".to_vec(), ..span(1, n, false) };
    let first = add(&store, &[span(1, 1, true), other(1), other(1), span(1, 1, true)], 10);
    assert_eq!(first, StoredSpans { stored: 1, repeated: 1, conflicting: 2, ..StoredSpans::default() });
    assert_eq!(add(&store, &[other(1)], 20), StoredSpans { conflicting: 1, ..StoredSpans::default() });
    assert_eq!((refused(&store), counted(&store, ProductionCounter::SpansConflicting)), (vec![(1, 3)], 3));
    // Also in a kept trace, which is read again as an incomplete one, and in a full one.
    decide_one(&store, kept(1), 2_000);
    assert_eq!(add(&store, &[other(1)], 3_000).conflicting, 1);
    assert_eq!(refused(&store), [(1, 4)]);
    let full: Vec<NewSpan> = (0..5).map(|n| span(2, n, false)).collect();
    add(&store, &full, 10);
    assert_eq!(add(&store, &[NewSpan { trace: full[0].trace, ..other(4) }], 20).conflicting, 1);
}

/// A client that got no answer sends again, also to a trace that has become full.
pub(super) fn repetitions_in_a_full_trace_are_not_refused(place: &TestPlace) {
    let store = open(place);
    let full: Vec<NewSpan> = (0..5).map(|n| span(1, n, false)).collect();
    assert_eq!(add(&store, &full, 0).stored, 5);
    assert_eq!(add(&store, &full, 10), StoredSpans { repeated: 5, ..StoredSpans::default() });
    assert_eq!(refused(&store), [(1, 0)], "nothing was lost");
    assert_eq!(add(&store, &[span(1, 4, false), span(1, 5, false)], 20), StoredSpans { repeated: 1, over_limit: 1, ..Default::default() });
    assert_eq!(refused(&store), [(1, 1)]);
}

pub(super) fn refusals_outlive_the_decision_on_their_trace(place: &TestPlace) {
    let store = open(place);
    for (decision, again) in [(kept(1), 1), (TraceDecision::Drop, 2), (TraceDecision::Unreadable, 3)] {
        add(&store, &[span(again, 1, true)], 10);
        refuse(&store, again, 2, 10);
        assert_eq!(refused(&store), [(again, 2)]);
        decide_one(&store, decision, 20);
        // A late span makes the trace be read again, which is as incomplete as before.
        add(&store, &[span(again, 2, false)], 30);
        assert_eq!(refused(&store), [(again, 2)]);
        add(&store, &[span(again, 3, false)], 40);
        refuse(&store, again, 1, 50);
        assert_eq!(refused(&store), [(again, 3)]);
        decide_one(&store, kept(again), 60);
    }
    // Also after retention has removed it.
    assert_eq!(store.retain(70, 1, 0).unwrap().by_size, 3);
    assert_eq!(add(&store, &[span(1, 9, false)], 80).late, 1);
    assert_eq!(refused(&store), [(1, 3)]);
}

pub(super) fn a_trace_that_lost_spans_meanwhile_stays_open(place: &TestPlace) {
    let store = open(place);
    add(&store, &[span(1, 1, true)], 0);
    let complete = store.settled_traces(100, 10, 1_000, 10).unwrap()[0];
    refuse(&store, 1, 1, 50);
    assert_eq!(store.decide(&[(complete, kept(1))], 100).unwrap(), 0, "it was read as complete");
    assert_eq!(refused(&store), [(1, 1)]);
    decide_one(&store, kept(1), 100);
}

pub(super) fn incomplete_traces_that_are_left_out_are_counted(place: &TestPlace) {
    let store = open(place);
    add(&store, &[span(1, 1, true)], 0);
    decide_one(&store, TraceDecision::Unreadable, 100);
    assert_eq!(store.incomplete_drops(0).unwrap(), 0, "nothing of it was refused");
    // All of its spans are refused.
    refuse(&store, 2, 4, 200);
    assert_eq!((refused(&store), store.spans_of(&[2; 16]).unwrap().len()), (vec![(2, 4)], 0));
    decide_one(&store, TraceDecision::Unreadable, 300);
    assert_eq!((store.incomplete_drops(300).unwrap(), store.incomplete_drops(301).unwrap()), (1, 0));
    // A span of the first one is refused later, in another window.
    refuse(&store, 1, 1, 400);
    decide_one(&store, TraceDecision::Unreadable, 500);
    assert_eq!((store.incomplete_drops(500).unwrap(), store.incomplete_drops(300).unwrap()), (1, 2));
    assert_eq!(counted(&store, ProductionCounter::TracesUnreadable), 2, "each is counted once");
    add(&store, &[span(2, 1, true)], 600);
    decide_one(&store, kept(2), 700);
    assert_eq!(store.incomplete_drops(0).unwrap(), 1, "it is kept now");
}

const DOLLAR: u64 = 1_000_000;

/// Notes a transaction, with a limit of 100 dollars per day.
fn note_spending(store: &ProductionStore, n: u64, wallet: &str, at_s: u64, micros: Option<u64>) -> DaySpending {
    let spent = WalletSpending { chain: 1, hash: format!("0x{n}"), wallet: wallet.to_owned(), nonce: n, at_s, micros };
    store.add_spending(&spent, 100 * DOLLAR).unwrap()
}

pub(super) fn spending_is_added_up_by_wallet_and_day_over_traces(place: &TestPlace) {
    let store = open(place);
    let spend = |n: u64, wallet: &str, at_s: u64, dollars: u64| note_spending(&store, n, wallet, at_s, Some(dollars * DOLLAR));
    let over = |dollars: u64| DaySpending::Over { micros: dollars * DOLLAR };
    assert_eq!(spend(2, "a", 100_000, 60), DaySpending::Within);
    assert_eq!(spend(3, "a", 100_000, 50), over(110), "two halves of more than the limit");
    assert_eq!(spend(3, "a", 100_000, 50), over(110), "a transaction counts once");
    assert_eq!(spend(4, "b", 100_000, 90), DaySpending::Within, "another wallet");
    assert_eq!(spend(3, "b", 100_000, 11), over(101), "one transaction may take from two wallets");
    assert_eq!(spend(5, "a", 180_000, 1), over(111));
    assert_eq!(spend(6, "a", 190_000, 99), DaySpending::Within, "the first two are more than a day ago");
    assert_eq!(spend(7, "c", 200_000, 60), DaySpending::Within);
    // One that is read late brings the day of a later one over the limit.
    assert_eq!(spend(1, "c", 150_000, 50), over(110));
    // Money is counted exactly: in binary fractions these are more than a hundred dollars.
    for (n, cents) in (20..).zip([3_000, 3_627, 2_373, 1_000]) {
        assert_eq!(note_spending(&store, n, "d", 100_000, Some(cents * DOLLAR / 100)), DaySpending::Within);
    }
    spend(9_000, "e", 100_000, u64::MAX / DOLLAR);
    assert!(matches!(spend(9_001, "e", 100_000, u64::MAX / DOLLAR), DaySpending::Over { .. }), "sums do not overflow");
}

pub(super) fn days_with_a_transaction_of_unknown_value_are_unknown(place: &TestPlace) {
    let store = open(place);
    assert_eq!(note_spending(&store, 1, "a", 100_000, None), DaySpending::Unknown);
    assert_eq!(note_spending(&store, 2, "a", 100_001, Some(DOLLAR)), DaySpending::Unknown, "of the same day");
    assert_eq!(note_spending(&store, 3, "b", 100_001, Some(DOLLAR)), DaySpending::Within, "another wallet");
    assert_eq!(
        note_spending(&store, 4, "a", 100_002, Some(100 * DOLLAR)),
        DaySpending::Over { micros: 101 * DOLLAR },
        "what is known is enough"
    );
    assert_eq!(note_spending(&store, 5, "a", 200_000, Some(DOLLAR)), DaySpending::Within, "another day");
    // The trace is read again with a price.
    assert_eq!(note_spending(&store, 1, "a", 100_000, Some(DOLLAR)), DaySpending::Within);
    assert_eq!(note_spending(&store, 2, "a", 100_001, Some(DOLLAR)), DaySpending::Within);
}

pub(super) fn times_without_a_collector_are_noted_once(place: &TestPlace) {
    let (store, other) = (open(place), open(place));
    store.note_work(1_000, 600).unwrap();
    assert!(store.outages(0, 10).unwrap().is_empty(), "before the first step there was nothing to collect");
    store.note_work(1_600, 600).unwrap();
    store.note_work(9_000, 600).unwrap();
    other.note_work(9_001, 600).unwrap();
    other.note_work(8_000, 600).unwrap();
    let outage = WorkOutage { from_s: 1_600, to_s: 9_000 };
    assert_eq!((other.outages(9_000, 10).unwrap(), other.outages(9_001, 10).unwrap()), (vec![outage], vec![]));
    assert_eq!(store.mark(StoreMark::Worked).unwrap(), Some(9_001));
    store.note_work(20_000, 600).unwrap();
    assert_eq!(store.outages(0, 1).unwrap(), [WorkOutage { from_s: 9_001, to_s: 20_000 }], "the newest first");
    store.retain(86_400_000 + 9_001_000, 1, u64::MAX).unwrap();
    assert_eq!(store.outages(0, 10).unwrap().len(), 1, "the first is too old");
}

pub(super) fn marks_only_grow(place: &TestPlace) {
    let store = open(place);
    assert_eq!(store.mark(StoreMark::Worked).unwrap(), None);
    store.set_mark(StoreMark::Worked, 7).unwrap();
    store.set_mark(StoreMark::Worked, 5).unwrap();
    assert_eq!((store.mark(StoreMark::Worked).unwrap(), store.mark(StoreMark::RemovedUntil).unwrap()), (Some(7), None));
}

pub(super) fn traces_settle_when_their_root_ended_and_they_are_quiet_or_old(place: &TestPlace) {
    let store = open(place);
    add(&store, &[span(1, 1, true), span(2, 1, false)], 1_000);
    let settled = |now| store.settled_traces(now, 500, 10_000, 10).unwrap().iter().map(|open| open.trace[0]).collect::<Vec<_>>();
    assert!(settled(1_400).is_empty());
    assert_eq!(settled(1_500), [1]);
    add(&store, &[span(1, 2, false)], 1_600);
    assert!(settled(1_700).is_empty(), "another span came");
    assert_eq!(settled(11_000), [2, 1], "a trace without a root is decided when it is old");
    add(&store, &[span(2, 2, false)], 10_999);
    assert_eq!(settled(11_000), [1, 2], "spans that still come do not keep an old trace open");
    assert_eq!((store.overdue_traces(1_000).unwrap(), store.overdue_traces(1_001).unwrap()), (0, 2));
}

pub(super) fn a_trace_that_grew_meanwhile_stays_open(place: &TestPlace) {
    let store = open(place);
    add(&store, &[span(1, 1, true)], 0);
    let open = store.settled_traces(100, 10, 1_000, 10).unwrap()[0];
    add(&store, &[span(1, 2, false)], 50);
    assert_eq!(store.decide(&[(open, TraceDecision::Drop)], 100).unwrap(), 0);
    let open = store.settled_traces(100, 10, 1_000, 10).unwrap()[0];
    assert_eq!(store.decide(&[(open, kept(1))], 100).unwrap(), 1);
    assert_eq!(store.kept_trace(&[1; 16]).unwrap().unwrap().seq, 1);
}

pub(super) fn late_spans_reopen_kept_traces_and_are_counted_for_dropped_ones(place: &TestPlace) {
    let store = open(place);
    add(&store, &[span(1, 1, true), span(2, 1, true)], 0);
    let open = store.settled_traces(100, 10, 1_000, 10).unwrap();
    store.decide(&[(open[0], kept(1)), (open[1], TraceDecision::Drop)], 100).unwrap();
    assert_eq!(store.span_count().unwrap(), 1);
    let late = add(&store, &[span(1, 2, false), span(2, 2, false), span(2, 1, true)], 200);
    assert_eq!(late, StoredSpans { stored: 1, late: 2, ..StoredSpans::default() });
    let open = store.settled_traces(5_000, 10, 1_000, 10).unwrap();
    assert_eq!(open.iter().map(|open| (open.trace[0], open.spans)).collect::<Vec<_>>(), [(1, 2), (2, 2)]);
    assert_eq!(store.spans_of(&[1; 16]).unwrap().len(), 2, "read again with all spans");
    store.decide(&[(open[0], kept(1)), (open[1], TraceDecision::Drop)], 300).unwrap();
    assert_eq!((counted(&store, ProductionCounter::TracesKept), store.kept_traces(0, 0, 10).unwrap().len()), (1, 1));
    assert_eq!((counted(&store, ProductionCounter::TracesDropped), counted(&store, ProductionCounter::SpansStored)), (1, 3));
    // Late spans of a trace that was left out may be the reason to keep it.
    add(&store, &[span(2, 3, false)], 400);
    let open = store.settled_traces(5_000, 10, 1_000, 10).unwrap();
    store.decide(&[(open[0], kept(2))], 500).unwrap();
    assert_eq!(counted(&store, ProductionCounter::TracesKept), 2);
    assert_eq!(add(&store, &[span(2, 4, false)], 600).stored, 1, "it is kept now");
}

pub(super) fn retention_removes_by_age_and_size(place: &TestPlace) {
    let store = open(place);
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
    assert_eq!(add(&store, &[span(19, 1, true)], now).late, 1, "a removed trace is not a new one");
    assert_eq!(store.mark(StoreMark::RemovedUntil).unwrap(), Some(19), "the newest that was removed for its size");
}

pub(super) fn alerts_of_one_key_cool_down(place: &TestPlace) {
    let store = open(place);
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

pub(super) fn deferred_traces_wait_and_keep_their_place(place: &TestPlace) {
    let store = open(place);
    add(&store, &[span(1, 1, true)], 10);
    store.defer_trace(&[1; 16], 500).unwrap();
    assert!(store.settled_traces(499, 10, 100, 10).unwrap().is_empty());
    assert_eq!(store.settled_traces(500, 10, 100, 10).unwrap().len(), 1);
}

pub(super) fn receipts_are_asked_for_until_answered_once(place: &TestPlace) {
    let store = open(place);
    let wanted = [(8453, "0xaa".to_owned())];
    let want = |trace: u8, now_ms| store.want_receipts(&[trace; 16], &wanted, now_ms).unwrap().remove(0);
    assert_eq!(want(1, 10), ReceiptClaim { state: ReceiptState::Wanted, other: None, wanted_ms: 10 });
    assert_eq!(want(2, 11).other, Some([1; 16]), "another trace named it first");
    let due = store.due_receipts(8453, 10, 5).unwrap();
    assert_eq!(due, [WantedReceipt { chain: 8453, hash: "0xaa".into(), attempts: 0 }]);
    assert!(store.due_receipts(1, 10, 5).unwrap().is_empty(), "another chain");
    store.retry_receipt(&due[0], 100).unwrap();
    assert!(store.due_receipts(8453, 99, 5).unwrap().is_empty());
    assert_eq!(store.due_receipts(8453, 100, 5).unwrap()[0].attempts, 1);
    store.answer_receipt(&due[0], "first", ProductionCounter::ReceiptsDecoded).unwrap();
    store.answer_receipt(&due[0], "second", ProductionCounter::ReceiptsFailed).unwrap();
    assert_eq!(want(1, 20), ReceiptClaim { state: ReceiptState::Known("first".into()), other: None, wanted_ms: 10 });
    assert!(store.due_receipts(8453, 1_000, 5).unwrap().is_empty());
    assert_eq!((counted(&store, ProductionCounter::ReceiptsDecoded), counted(&store, ProductionCounter::ReceiptsFailed)), (1, 0));
}

pub(super) fn the_money_of_a_day_is_a_hard_cap_for_all_connections(place: &TestPlace) {
    let store = open(place);
    let other = open(place);
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

pub(super) fn traces_are_judged_again_only_if_they_were_decided_again(place: &TestPlace) {
    let store = open(place);
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

/// Undoes the last conversion of a file.
const BACK_TO_VERSION_3: &str =
    "ALTER TABLE traces DROP COLUMN refused; DROP INDEX dropped_incomplete; ALTER TABLE dropped DROP COLUMN refused;
    DROP TABLE outages; DROP TABLE spending;
    CREATE TABLE spending (chain INTEGER NOT NULL, hash TEXT NOT NULL, wallet TEXT NOT NULL, nonce INTEGER NOT NULL, at_s INTEGER NOT NULL,
        usd REAL NOT NULL, PRIMARY KEY (chain, hash)) STRICT, WITHOUT ROWID;
    INSERT INTO spending VALUES (1, '0x1', 'a', 1, 100000, 60.1), (1, '0x2', 'b', 1, 100000, 1e300);";

/// Requires that an earlier version's kept trace, left-out trace and spending are as good as those of today.
fn check_converted(store: &ProductionStore) {
    for (trace, late) in [(1, 0), (2, 1)] {
        assert_eq!(add(store, &[span(trace, 9, false)], 50).late, late);
        assert_eq!(refused(store), [(trace, 0)]);
        decide_one(store, kept(trace), 60);
    }
    assert_eq!(note_spending(store, 3, "a", 100_000, Some(39_900_000)), DaySpending::Within);
    assert_eq!(note_spending(store, 4, "a", 100_000, Some(1)), DaySpending::Over { micros: 100 * DOLLAR + 1 });
    assert!(matches!(note_spending(store, 5, "b", 100_000, Some(1)), DaySpending::Over { .. }));
    store.note_work(1, 1).unwrap();
}

/// Stores a kept trace and one that was left out.
fn store_two(store: &ProductionStore) {
    for (trace, decision) in [(1, kept(1)), (2, TraceDecision::Drop)] {
        add(store, &[span(trace, 1, true)], 10);
        decide_one(store, decision, 20);
    }
}

#[test]
fn files_of_version_3_are_converted() {
    let place = TestPlace::sqlite();
    store_two(&open(&place));
    let StoreLocation::File(path) = &place.location else { unreachable!() };
    let back = format!("{BACK_TO_VERSION_3} CREATE INDEX spending_by_wallet ON spending (wallet, at_s); PRAGMA user_version = 3;");
    SqliteTraces::open(path).unwrap().connection.execute_batch(&back).unwrap();
    check_converted(&open(&place));
}

#[test]
fn tables_of_version_1_on_postgres_are_converted() {
    let place = TestPlace::postgres();
    store_two(&open(&place));
    place.sql(
        "SET search_path TO bardo_eval_production;
         ALTER TABLE traces DROP COLUMN refused; DROP INDEX dropped_incomplete; ALTER TABLE dropped DROP COLUMN refused; DROP TABLE outages;
         ALTER TABLE spending DROP COLUMN micros, ADD COLUMN usd double precision NOT NULL,
             DROP CONSTRAINT spending_pkey, ADD PRIMARY KEY (chain, hash);
         INSERT INTO spending (chain, hash, wallet, nonce, at_s, usd) VALUES (1, '0x1', 'a', 1, 100000, 60.1), (1, '0x2', 'b', 1, 100000, 1e300);
         UPDATE schema_version SET version = 1",
    );
    check_converted(&open(&place));
    assert_eq!(place.sql("SELECT version FROM bardo_eval_production.schema_version"), "2");
}

#[test]
fn files_of_version_1_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("production.sqlite");
    let store = SqliteTraces::open(&path).unwrap();
    store.raise_alert("k", 5, 0, "{}").unwrap();
    store
        .connection
        .execute_batch(&format!(
            "{BACK_TO_VERSION_3}
             DROP TABLE receipts; DROP TABLE judgements; DROP TABLE judge_calls; DROP TABLE spending; DROP TABLE marks;
             ALTER TABLE open_traces DROP COLUMN wait_until_ms; ALTER TABLE open_traces DROP COLUMN refused; PRAGMA user_version = 1;"
        ))
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

#[test]
fn files_of_version_2_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("production.sqlite");
    let store = SqliteTraces::open(&path).unwrap();
    let wanted = [(8453, "0xaa".to_owned())];
    store.want_receipts(&[1; 16], &wanted, 10).unwrap();
    let back = "DROP TABLE spending; DROP TABLE marks; ALTER TABLE open_traces DROP COLUMN refused;
                ALTER TABLE receipts DROP COLUMN named_by; PRAGMA user_version = 2;";
    store.connection.execute_batch(&format!("{BACK_TO_VERSION_3} {back}")).unwrap();
    drop(store);
    let store = ProductionStore::open(&path).unwrap();
    assert_eq!(store.want_receipts(&[2; 16], &wanted, 20).unwrap()[0].other, None, "the old file does not tell");
    assert_eq!(store.want_receipts(&[3; 16], &wanted, 20).unwrap()[0].other, Some([2; 16]));
    store.set_mark(StoreMark::Worked, 1).unwrap();
}

pub(super) fn traces_keep_their_seq_and_place(place: &TestPlace) {
    let store = open(place);
    for trace in [3, 1, 2] {
        add(&store, &[span(trace, 1, true)], 10);
        let open = store.settled_traces(20, 10, 100, 10).unwrap();
        assert_eq!(store.decide(&[(open[0], kept(trace))], 20).unwrap(), 1);
        assert_eq!(store.decide(&[(open[0], kept(trace))], 20).unwrap(), 0, "a decision counts once");
    }
    let order = || store.kept_traces(0, 0, 10).unwrap().iter().map(|kept| kept.trace[0]).collect::<Vec<_>>();
    assert_eq!(order(), [3, 1, 2]);
    // A span after the decision: the trace is decided again, at its place.
    add(&store, &[span(1, 2, false)], 30);
    let open = store.settled_traces(90, 10, 50, 10).unwrap();
    let TraceDecision::Keep(again) = kept(1) else { unreachable!() };
    let again = KeptTrace { scores: "[1]".into(), transcript: "\0 NUL".into(), reasons: "veto".into(), ..*again };
    store.decide(&[(open[0], TraceDecision::Keep(Box::new(again.clone())))], 90).unwrap();
    assert_eq!(order(), [3, 1, 2]);
    let found = store.kept_trace(&[1; 16]).unwrap().unwrap();
    assert_eq!(KeptTrace { seq: 0, ..found.clone() }, again);
    let [first, _, last] = &store.kept_traces(0, 0, 10).unwrap()[..] else { panic!("three traces") };
    assert!(first.seq < found.seq && found.seq < last.seq);
    assert_eq!(store.kept_traces(0, found.seq, 10).unwrap().len(), 1);
    assert_eq!(store.kept_traces(2, 0, 10).unwrap().len(), 2, "by the begin of the trace");
    assert_eq!((counted(&store, ProductionCounter::TracesKept), counted(&store, ProductionCounter::TracesSampled)), (3, 3));
    assert!(store.content_bytes().unwrap() > 0);
}

pub(super) fn texts_and_missing_stores_are_the_same(place: &TestPlace) {
    assert!(ProductionStore::open_existing(&place.location).unwrap().is_none());
    assert!(ProductionStore::open_existing(&place.location).unwrap().is_none(), "looking creates nothing");
    let store = open(place).with_relaxed_commits().unwrap();
    store.raise_alert("k\0\u{1}", 5, 0, "\0").unwrap();
    let alert = ProductionStore::open_existing(&place.location).unwrap().unwrap().alerts(0, 1).unwrap().remove(0);
    assert_eq!((alert.key.as_str(), alert.body.as_str(), alert.sent_s), ("k\0\u{1}", "\0", None));
    store.add_count(ProductionCounter::JudgeUnfunded, 2).unwrap();
    store.add_count(ProductionCounter::JudgeUnfunded, 3).unwrap();
    assert_eq!(counted(&store, ProductionCounter::JudgeUnfunded), 5);
    assert_eq!((store.oldest_open_ms().unwrap(), store.open_trace_count().unwrap()), (None, 0));
    add(&store, &[span(1, 1, false), span(2, 1, false)], 7);
    assert_eq!((store.oldest_open_ms().unwrap(), store.open_trace_count().unwrap()), (Some(7), 2));
    store.decide(&[], 8).unwrap();
}

/// Spans of the same traces through several connections while another one decides: every span is counted once, and no trace has two ends.
pub(super) fn decisions_and_spans_of_many_connections_agree(place: &TestPlace) {
    drop(open(place));
    std::thread::scope(|scope| {
        for writer in 0..3_u8 {
            scope.spawn(move || {
                let store = open(place);
                for n in 0..60_u8 {
                    let spans: Vec<NewSpan> = (0..4).map(|trace| span(n / 10 * 4 + trace, n % 10 * 3 + writer, writer == 0)).collect();
                    store
                        .add_spans(
                            &[spans[..2].to_vec().into(), spans[2..].to_vec().into()],
                            u64::from(n),
                            SpanLimits { spans: 100, bytes: 100_000 },
                        )
                        .unwrap();
                }
            });
        }
        scope.spawn(|| {
            let store = open(place);
            for n in 0..40_u64 {
                let settled = store.settled_traces(1_000, 0, 0, 5).unwrap();
                let decide = |open: OpenTrace| {
                    let decision = if open.trace[0].is_multiple_of(2) { kept(open.trace[0]) } else { TraceDecision::Drop };
                    (open, decision)
                };
                store.decide(&settled.into_iter().map(decide).collect::<Vec<_>>(), n).unwrap();
            }
        });
    });
    let store = open(place);
    let sum = counted(&store, ProductionCounter::SpansStored) + counted(&store, ProductionCounter::SpansLate);
    assert_eq!(sum, 3 * 60 * 4, "no span is repeated or refused");
    let traces: Vec<u8> = store.kept_traces(0, 0, 100).unwrap().iter().map(|kept| kept.trace[0]).collect();
    let distinct: std::collections::BTreeSet<u8> = traces.iter().copied().collect();
    assert_eq!((traces.len(), counted(&store, ProductionCounter::TracesKept)), (distinct.len(), distinct.len() as u64));
    for trace in (0..24).filter(|trace| trace % 2 == 0) {
        assert_eq!(store.spans_of(&[trace; 16]).unwrap().len(), 30, "all spans of trace {trace} are there");
    }
}

const DAY_MS: u64 = 86_400_000;

/// Stores a trace with one span in a month and keeps it.
fn keep_at(store: &ProductionStore, trace: u8, ms: u64) {
    add(store, &[span(trace, 1, true)], ms);
    let open = store.settled_traces(ms, 0, 0, 10).unwrap();
    store.decide(&[(open[0], kept(trace))], ms).unwrap();
}

#[test]
fn months_are_partitions_that_retention_drops() {
    let place = TestPlace::postgres();
    let store = open(&place);
    let tables = || {
        place.sql("SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class WHERE relnamespace = 'bardo_eval_production'::regnamespace AND relispartition AND relkind = 'r'")
    };
    // January, February and April 1970.
    for (trace, day) in [(1, 3), (2, 30), (3, 40), (4, 95), (5, 100)] {
        keep_at(&store, trace, day * DAY_MS);
    }
    add(&store, &[span(6, 1, true)], 41 * DAY_MS);
    let open_one = store.settled_traces(41 * DAY_MS, 0, 0, 10).unwrap()[0];
    store.decide(&[(open_one, TraceDecision::Drop)], 41 * DAY_MS).unwrap();
    let month = |month: &str| ["dropped", "spans", "traces"].map(|table| format!("{table}_{month}"));
    let all = |months: &[&str]| {
        let mut names: Vec<String> = months.iter().flat_map(|name| month(name)).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(tables(), all(&["197001", "197002", "197004"]));
    assert_eq!(store.span_count().unwrap(), 5);
    // 60 days before day 100 is within February: January goes as a whole, of February nothing is old enough.
    assert_eq!(store.retain(100 * DAY_MS, 60, u64::MAX).unwrap(), RetentionResult { by_age: 2, by_size: 0 });
    assert_eq!(tables(), all(&["197002", "197004"]));
    assert_eq!(store.retain(105 * DAY_MS, 60, u64::MAX).unwrap().by_age, 1, "day 40 is older than 60 days, by row");
    assert_eq!(tables(), all(&["197002", "197004"]), "February is not over");
    assert_eq!(add(&store, &[span(6, 2, false), span(3, 2, false)], 105 * DAY_MS).late, 2, "ids of February are known");
    let late = store.settled_traces(105 * DAY_MS, 0, 0, 10).unwrap();
    store.decide(&late.into_iter().map(|open| (open, TraceDecision::Drop)).collect::<Vec<_>>(), 105 * DAY_MS).unwrap();
    assert_eq!(counted(&store, ProductionCounter::TracesDropped), 1, "left out again in another month");
    store.retain(130 * DAY_MS, 60, u64::MAX).unwrap();
    assert_eq!(tables(), all(&["197004"]));
    assert_eq!(store.kept_traces(0, 0, 10).unwrap().len(), 2);
    // By size: the month goes with its traces, and their ids stay.
    assert_eq!(store.retain(130 * DAY_MS, 60, 0).unwrap(), RetentionResult { by_age: 0, by_size: 2 });
    assert_eq!((store.span_count().unwrap(), store.content_bytes().unwrap()), (0, 0));
    assert_eq!(add(&store, &[span(4, 2, false)], 105 * DAY_MS).late, 1);
    // A month that was dropped is made again, by a connection that took it for granted too.
    keep_at(&store, 7, 103 * DAY_MS);
    assert_eq!(store.kept_traces(0, 0, 10).unwrap().len(), 1);
}

#[test]
fn open_traces_keep_their_month() {
    let place = TestPlace::postgres();
    let store = open(&place);
    keep_at(&store, 1, DAY_MS);
    let before = store.content_bytes().unwrap();
    // A late span reopens the trace, in its month.
    add(&store, &[span(1, 2, false)], 40 * DAY_MS);
    assert_eq!(place.sql("SELECT month FROM bardo_eval_production.open_traces"), "197001");
    assert_eq!(store.content_bytes().unwrap() - before, span(1, 2, false).body.len() as u64, "earlier spans count once");
    assert_eq!(store.retain(200 * DAY_MS, 60, u64::MAX).unwrap().by_age, 0, "the trace grows");
    let open_one = store.settled_traces(200 * DAY_MS, 0, 0, 10).unwrap()[0];
    store.decide(&[(open_one, kept(1))], 200 * DAY_MS).unwrap();
    assert_eq!(store.spans_of(&[1; 16]).unwrap().len(), 2);
    assert_eq!(store.retain(261 * DAY_MS, 60, u64::MAX).unwrap().by_age, 1);
    assert_eq!(store.span_count().unwrap(), 0);
}

/// Another collector has begun to add a span to a kept trace: retention waits for it and leaves the trace.
#[test]
fn retention_waits_for_traces_that_grow_again() {
    let place = TestPlace::postgres();
    let store = open(&place);
    keep_at(&store, 1, DAY_MS);
    keep_at(&store, 2, DAY_MS);
    let StoreLocation::Postgres(target) = &place.location else { unreachable!() };
    let other = PgConnection::open_schema(target, "bardo_eval_production").unwrap();
    let run = |sql: &'static str| {
        other
            .run(move |session| Box::pin(async move { Ok(session.client().await?.batch_execute(sql).await.map_err(PgFault::from)?) }))
            .unwrap();
    };
    run("BEGIN; INSERT INTO open_traces (trace, month, first_ms, last_ms, spans, bytes, root_ended)
         VALUES (decode(repeat('01', 16), 'hex'), 197001, 1, 1, 2, 10, false)");
    std::thread::scope(|scope| {
        let retention = scope.spawn(|| open(&place).retain(20 * DAY_MS, 10, u64::MAX).unwrap());
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while !retention.is_finished() && place.sql(waits) == "0" {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        run("COMMIT");
        assert_eq!(retention.join().unwrap(), RetentionResult { by_age: 1, by_size: 0 });
    });
    assert_eq!((store.spans_of(&[1; 16]).unwrap().len(), store.spans_of(&[2; 16]).unwrap().len()), (1, 0));
    assert_eq!(place.sql("SELECT count(*) FROM bardo_eval_production.open_traces"), "1", "retention leaves no row of its own");
}

#[test]
fn newer_tables_are_refused_and_runs_beside_them_stay() {
    let place = TestPlace::postgres();
    drop(open(&place));
    place.sql("UPDATE bardo_eval_production.schema_version SET version = 99");
    assert!(matches!(ProductionStore::open(&place.location), Err(StoreError::NewerVersion { found: 99, .. })));
    assert!(crate::Store::open_existing(&place.location, crate::tests::all_pass).unwrap().is_none(), "traces are no store of runs");
    assert!(place.open().runs().unwrap().is_empty());
}

/// The server is killed and connections are cut while spans are stored: every request is answered, and every span is counted once.
#[test]
fn spans_are_counted_once_after_kills_of_the_server() {
    let server = testkit::PostgresServer::start(None);
    let location = StoreLocation::new(&server.create_database(), crate::postgres::PgEnvironment::default);
    let store = ProductionStore::open(&location).unwrap();
    for n in 0..60_u8 {
        match n {
            15 | 40 => server.restart(),
            25 | 50 => drop(
                server.psql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bardo-eval'"),
            ),
            _ => {}
        }
        assert_eq!(add(&store, &[span(n, 1, true)], u64::from(n)).stored, 1);
    }
    assert_eq!((store.span_count().unwrap(), counted(&store, ProductionCounter::SpansStored)), (60, 60));
    assert_eq!(counted(&store, ProductionCounter::SpansRepeated), 0);
}
