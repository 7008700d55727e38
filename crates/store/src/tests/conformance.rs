//! Behaviour that both engines share. Every function runs once on each.

use super::{TestPlace, begin, call, example, outline, row, wait};
use crate::*;
use model::transcript::EventKind;
use model::{ContentHash, Event, GateVerdicts};

pub(super) fn stored_run_reads_back_from_another_connection(place: &TestPlace) {
    let (record, plan) = (example("a", 3), outline("a", 3));
    let store = place.open();
    let run = begin(&store, "first", &plan);
    // Not in plan order.
    for n in [2, 0, 1] {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    let verdicts = GateVerdicts { judgements: vec![], out_of_scope: record.out_of_scope.clone() };
    store.set_verdicts(run, &verdicts, Some(&record.hash()), "2026-01-01T00:00:09Z").unwrap();
    drop(store);
    let store = place.open();
    let stored = store.runs().unwrap().remove(0);
    assert_eq!((stored.finished, stored.passed, stored.spent, stored.ended.is_some()), (3, 3, 0, true));
    assert!(stored.matches_prefix("first") && stored.matches_prefix(&record.hash().as_str()[..5]) && !stored.matches_prefix("other"));
    assert_eq!(store.record(&stored).unwrap(), record);
    assert_eq!(store.record(&stored).unwrap().hash(), record.hash());
    let mut seen = vec![];
    store.for_each_ended(run, |ended| seen.push((ended.n, ended.content_hash, ended.scores_hash))).unwrap();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[1].1, record.transcripts[1].to_serialized().content_hash);
}

pub(super) fn trials_are_found_by_case_or_id_without_reading_others(place: &TestPlace) {
    let store = place.open();
    let record = example("a", 3);
    let run = begin(&store, "first", &outline("a", 3));
    for n in 0..3 {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    // The events of other trials may even be unreadable.
    place.sql("UPDATE trials SET events = 'no json' WHERE n > 0");
    let case = record.plan.trials[0].case.clone();
    let of_case = record.plan.trials.iter().filter(|trial| trial.case == case).count();
    let found = store.find_trials(run, &case, Some(&case), 1).unwrap();
    assert_eq!((found.first.len(), found.first[0].n, found.count), (1, 0, of_case));
    let id = record.plan.trials[2].id.as_str();
    let found = store.find_trials(run, &id[..8], Some(&id[..8]), 9).unwrap();
    assert_eq!((found.first[0].n, found.first[0].id.as_str(), found.count), (2, id, 1));
    assert_eq!(store.find_trials(run, &id[..8], None, 9).unwrap().count, 0);
    let (trial, transcript, _) = store.read_transcript(run, 0).unwrap().unwrap();
    assert_eq!((&trial, &transcript), (&record.plan.trials[0], &record.transcripts[0]));
    assert!(store.read_transcript(run, 1).is_err() && store.read_transcript(run, 9).unwrap().is_none());
}

pub(super) fn sql_views_expose_scores_and_events(place: &TestPlace) {
    let store = place.open();
    let record = example("a", 2);
    let run = begin(&store, "first", &outline("a", 2));
    store.add_trial(&row(run, 0, &record)).unwrap();
    assert_eq!(place.sql("SELECT scorer || ' ' || hit || '/' || of FROM scores"), "case_pass 1/1");
    let path = if place.is_postgres() { "#>> '{user_said,text}'" } else { "->> '$.user_said.text'" };
    assert_eq!(place.sql(&format!("SELECT happened {path} FROM events")), "1");
    assert_eq!(place.sql("SELECT by || n || ' ' || at_ms || case_id FROM events"), "user1 0a_case");
    assert_eq!(place.sql("SELECT ending FROM trials"), "finished");
}

pub(super) fn runs_are_newest_first_and_removable(place: &TestPlace) {
    let store = place.open();
    let plan = outline("a", 3);
    let (first, second) = (begin(&store, "first", &plan), begin(&store, "second", &plan));
    store.add_trial(&row(first, 0, &example("a", 3))).unwrap();
    store.reserve_call(&call(first, 0), 7).unwrap();
    store.add_telemetry(first, "retries", 1).unwrap();
    let ids: Vec<String> = store.runs().unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids, ["second", "first"]);
    store.remove_run(first).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
    for table in ["trials", "calls", "telemetry"] {
        assert_eq!(place.sql(&format!("SELECT count(*) FROM {table}")), "0", "{table}");
    }
    assert!(store.run(second).unwrap().is_some());
}

pub(super) fn reserved_call_counts_at_ceiling_and_is_paid_once(place: &TestPlace) {
    let store = place.open();
    let run = begin(&store, "first", &outline("a", 3));
    let spent = || {
        let total = store.total_spending(run).unwrap();
        assert_eq!(store.run(run).unwrap().unwrap().spent, total);
        total
    };
    store.reserve_call(&call(run, 0), 100).unwrap();
    assert_eq!(spent(), 100);
    assert!(store.reserve_call(&call(run, 0), 100).is_err(), "the call is under way");
    store.fail_call(&call(run, 0), 3, "dropped").unwrap();
    assert_eq!(spent(), 3);
    store.reserve_call(&call(run, 0), 100).unwrap();
    assert_eq!(spent(), 103);
    store.settle_call(&call(run, 0), 40, Some(12), "{\"a\":1}").unwrap();
    assert_eq!(spent(), 43);
    assert_eq!(store.settled_reply(&call(run, 0)).unwrap(), Some((40, "{\"a\":1}".to_owned())));
    assert_eq!(store.settled_reply(&call(run, 1)).unwrap(), None);
    assert!(store.reserve_call(&call(run, 0), 100).is_err(), "the call is settled");
    assert!(store.settle_call(&call(run, 1), 1, None, "{}").is_err() && store.fail_call(&call(run, 1), 1, "x").is_err());
}

pub(super) fn orphaned_calls_cost_their_ceiling_and_are_retryable(place: &TestPlace) {
    let store = place.open();
    let run = begin(&store, "first", &outline("a", 3));
    store.reserve_call(&call(run, 0), 100).unwrap();
    store.reserve_call(&call(run, 1), 100).unwrap();
    store.settle_call(&call(run, 1), 10, None, "{}").unwrap();
    assert_eq!(store.fail_orphaned_calls(run).unwrap(), 1);
    assert_eq!(store.run(run).unwrap().unwrap().spent, 110);
    store.reserve_call(&call(run, 0), 50).unwrap();
    assert_eq!(store.run(run).unwrap().unwrap().spent, 160);
    assert_eq!(store.telemetry(run).unwrap(), [("asked_again".to_owned(), 1)]);
}

pub(super) fn cached_reply_expires(place: &TestPlace) {
    let store = place.open();
    let key = ContentHash::of_text("request");
    store.cache_reply(&key, 1_000, "one").unwrap();
    assert_eq!(store.cached_reply(&key, 1_000).unwrap().as_deref(), Some("one"));
    assert_eq!(store.cached_reply(&key, 1_001).unwrap(), None);
    store.cache_reply(&key, 2_000, "two").unwrap();
    assert_eq!(store.cached_reply(&key, 1_001).unwrap().as_deref(), Some("two"));
    assert_eq!(store.evict_replies_before(2_001).unwrap(), 1);
}

pub(super) fn journal_commits_waited_and_unwaited_writes(place: &TestPlace) {
    let store = place.open();
    let run = begin(&store, "first", &outline("a", 3));
    let journal = Journal::new(store).unwrap();
    let other = place.open();
    let record = example("a", 3);
    journal.write(JournalWrite::Trial(Box::new(row(run, 0, &record))));
    wait(&journal, JournalWrite::Reserve { call: call(run, 0), ceiling: 9 }).unwrap();
    let seen = other.run(run).unwrap().unwrap();
    assert_eq!((seen.finished, seen.spent), (1, 9), "earlier writes are committed too");
    journal.write(JournalWrite::Trial(Box::new(row(run, 1, &record))));
    assert_eq!(journal.read_blocking(move |store| store.run(run).unwrap().unwrap().finished).unwrap(), 2);
    journal.write(JournalWrite::Trial(Box::new(row(run, 2, &record))));
    drop(journal);
    assert_eq!(other.run(run).unwrap().unwrap().finished, 3);
}

pub(super) fn journal_failure_is_reported_to_later_writes(place: &TestPlace) {
    let store = place.open();
    let run = begin(&store, "first", &outline("a", 3));
    let journal = Journal::new(store).unwrap();
    journal.write(JournalWrite::Settle { call: call(run, 5), cost: 1, waited_us: None, reply: "{}".into() });
    assert!(wait(&journal, JournalWrite::Barrier).unwrap_err().to_string().contains("was not reserved"));
    assert!(wait(&journal, JournalWrite::Reserve { call: call(run, 0), ceiling: 9 }).is_err());
    assert!(journal.failure().is_some());
}

pub(super) fn run_lock_is_exclusive(place: &TestPlace) {
    let (one, two) = (place.open(), place.open());
    let lock = one.lock_run("first").unwrap();
    assert!(matches!(two.lock_run("first"), Err(StoreError::InUse { .. })));
    two.lock_run("second").unwrap();
    drop(lock);
    two.lock_run("first").unwrap();
}

pub(super) fn concurrent_journals_wait_for_each_other(place: &TestPlace) {
    let record = example("a", 40);
    let journals: Vec<(i64, Journal)> = ["one", "two"]
        .into_iter()
        .map(|id| {
            let store = place.open();
            let run = begin(&store, id, &outline("a", 40));
            (run, Journal::new(store).unwrap())
        })
        .collect();
    std::thread::scope(|scope| {
        for (run, journal) in journals {
            let record = &record;
            scope.spawn(move || {
                for n in 0..40 {
                    journal.write(JournalWrite::Trial(Box::new(row(run, n, record))));
                    wait(&journal, JournalWrite::Barrier).unwrap();
                }
            });
        }
    });
    let store = place.open();
    assert!(store.runs().unwrap().iter().all(|run| run.finished == 40));
    if !place.is_postgres() {
        assert_eq!(place.sql("PRAGMA integrity_check"), "ok");
    }
}

pub(super) fn spending_is_grouped_by_case_and_role(place: &TestPlace) {
    let store = place.open();
    let mut record = example("a", 2);
    let answer = model::transcript::ToolAnswer::Result(serde_json::json!({}));
    for transcript in &mut record.transcripts {
        let happened = EventKind::Answered { call: 1, answer: answer.clone() };
        transcript.events.push(Event { n: 2, at_ms: 0, by: "echo".into(), depth: 0, happened });
    }
    let run = begin(&store, "r", &outline("a", 2));
    for n in 0..2 {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    let call_key = |n, role| CallKey { run, trial: record.plan.trials[0].id.clone(), role, n };
    for (key, cost) in [(call_key(0, "subject"), 30), (call_key(1, "subject"), 40), (call_key(0, "judge"), 5)] {
        store.reserve_call(&key, 100).unwrap();
        store.settle_call(&key, cost, None, "{}").unwrap();
    }
    store.reserve_call(&call(run, 0), 1000).unwrap();
    let spending: Vec<_> = store.spending(run).unwrap().into_iter().map(|one| (one.case, one.role, one.calls, one.nanos)).collect();
    let case = || Some("a_case".to_owned());
    assert_eq!(spending, [(None, "subject".into(), 1, 1000), (case(), "judge".into(), 1, 5), (case(), "subject".into(), 2, 70)]);
    assert_eq!(store.count_world_answers(run).unwrap(), 1, "the second trial called no model");
}

pub(super) fn output_of_an_agent_is_kept_beside_the_record(place: &TestPlace) {
    let store = place.open();
    let (record, plan) = (example("a", 3), outline("a", 3));
    let run = begin(&store, "first", &plan);
    let said = AgentOutput { stdout_bytes: 7, stderr: "it\nbroke\n".into() };
    store.add_trial(&TrialRow { output: Some(said.clone()), ..row(run, 0, &record) }).unwrap();
    store.add_trial(&row(run, 1, &record)).unwrap();
    assert_eq!((store.agent_output(run, 0).unwrap(), store.agent_output(run, 1).unwrap()), (Some(said.clone()), None));
    // The same trial again, without output.
    store.add_trial(&row(run, 0, &record)).unwrap();
    assert_eq!(store.agent_output(run, 0).unwrap(), None);
    store.add_trial(&TrialRow { output: Some(said), ..row(run, 2, &record) }).unwrap();
    store.remove_trials_from(run, 1).unwrap();
    assert_eq!(store.agent_output(run, 2).unwrap(), None);
    let mut left = vec![];
    store.for_each_ended(run, |ended| left.push(ended.n)).unwrap();
    assert_eq!(left, [0]);
    store.remove_run(run).unwrap();
    assert!(store.runs().unwrap().is_empty());
}

pub(super) fn writes_of_a_group_keep_their_order(place: &TestPlace) {
    let store = place.open();
    let run = begin(&store, "first", &outline("a", 3));
    let record = example("a", 3);
    let reserve = |ceiling| JournalWrite::Reserve { call: call(run, 0), ceiling };
    let fail = |cost| JournalWrite::Fail { call: call(run, 0), cost, why: "dropped".into() };
    let settle = JournalWrite::Settle { call: call(run, 0), cost: 5, waited_us: Some(2_000), reply: "r".into() };
    let again = |wall_us| JournalWrite::Trial(Box::new(TrialRow { wall_us, ..row(run, 1, &record) }));
    let cached = |reply: &str| JournalWrite::CacheReply { key: ContentHash::of_text("k"), at: 1, reply: reply.into() };
    let count = |n| JournalWrite::Count { run, what: "cache_hits", n };
    let writes = vec![
        reserve(100),
        again(1),
        fail(3),
        cached("one"),
        reserve(200),
        fail(4),
        count(1),
        reserve(300),
        again(2),
        cached("two"),
        settle,
        count(2),
        JournalWrite::Barrier,
    ];
    store.engine.write(&writes).unwrap();
    let counts = store.call_counts(run).unwrap();
    assert_eq!((counts.settled, counts.attempts, store.total_spending(run).unwrap()), (1, 3, 12));
    assert_eq!(store.settled_reply(&call(run, 0)).unwrap(), Some((5, "r".to_owned())));
    assert_eq!(store.mean_latency_ms(run).unwrap(), Some(2.0));
    assert_eq!(store.cached_reply(&ContentHash::of_text("k"), 0).unwrap().as_deref(), Some("two"));
    assert_eq!(store.telemetry(run).unwrap(), [("cache_hits".to_owned(), 3)]);
    let mut walls = vec![];
    store.for_each_ended(run, |ended| walls.push((ended.n, ended.wall_us))).unwrap();
    assert_eq!(walls, [(1, 2)]);
    assert_eq!(place.sql("SELECT ceiling FROM calls"), "300");
}

pub(super) fn a_failed_group_leaves_nothing(place: &TestPlace) {
    let store = place.open();
    let run = begin(&store, "first", &outline("a", 3));
    let record = example("a", 3);
    let trial = || JournalWrite::Trial(Box::new(row(run, 0, &record)));
    let reserve = |n| JournalWrite::Reserve { call: call(run, n), ceiling: 9 };
    let settle = |n| JournalWrite::Settle { call: call(run, n), cost: 1, waited_us: None, reply: "r".into() };
    for (writes, why) in [
        (vec![trial(), reserve(0), settle(1)], "call 1 of the subject"),
        (vec![trial(), reserve(0), settle(0), settle(0)], "was not reserved"),
        (vec![reserve(0), trial(), reserve(0)], "under way or settled already"),
        (vec![reserve(0), settle(0), trial(), reserve(0)], "under way or settled already"),
    ] {
        let error = store.engine.write(&writes).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        let stored = store.run(run).unwrap().unwrap();
        assert_eq!((stored.finished, stored.spent, store.call_counts(run).unwrap()), (0, 0, CallStateCounts::default()));
    }
    store.engine.write(&[trial(), reserve(0), settle(0)]).unwrap();
    assert_eq!(store.run(run).unwrap().unwrap().finished, 1);
}

pub(super) fn counters_and_call_counts_add_up(place: &TestPlace) {
    let store = place.open();
    let (run, other) = (begin(&store, "first", &outline("a", 3)), begin(&store, "second", &outline("a", 3)));
    for what in ["retries", "Alpha", "retries", "é", "z"] {
        store.add_telemetry(run, what, 2).unwrap();
    }
    let names: Vec<_> = store.telemetry(run).unwrap();
    assert_eq!(names, [("Alpha".into(), 2), ("retries".into(), 4), ("z".into(), 2), ("é".into(), 2)], "sorted by bytes");
    assert!(store.telemetry(other).unwrap().is_empty());
    for n in 0..4 {
        store.reserve_call(&call(run, n), 10).unwrap();
    }
    store.settle_call(&call(run, 0), 1, Some(1_000), "a").unwrap();
    store.settle_call(&call(run, 1), 1, None, "b").unwrap();
    store.fail_call(&call(run, 2), 1, "x").unwrap();
    assert_eq!(store.call_counts(run).unwrap(), CallStateCounts { settled: 2, reserved: 1, failed: 1, attempts: 4 });
    assert_eq!((store.mean_latency_ms(run).unwrap(), store.mean_latency_ms(other).unwrap()), (Some(1.0), None));
    assert_eq!((store.total_spending(run).unwrap(), store.total_spending(other).unwrap()), (13, 0));
}

pub(super) fn budget_and_verdicts_change(place: &TestPlace) {
    let store = place.open();
    let run = begin(&store, "first", &outline("a", 3));
    assert_eq!(store.verdicts(&store.run(run).unwrap().unwrap()).unwrap(), GateVerdicts::default());
    for budget in [Some(7), None] {
        store.set_budget(run, budget).unwrap();
        assert_eq!(store.run(run).unwrap().unwrap().budget, budget);
    }
    let verdicts = GateVerdicts { judgements: vec![], out_of_scope: vec!["a_gate".into()] };
    store.set_verdicts(run, &verdicts, None, "2026-01-01T00:00:09Z").unwrap();
    let stored = store.run(run).unwrap().unwrap();
    assert_eq!((store.verdicts(&stored).unwrap(), stored.ended, stored.record), (verdicts.clone(), None, None));
    let record = ContentHash::of_text("record");
    store.set_verdicts(run, &verdicts, Some(&record), "2026-01-01T00:00:09Z").unwrap();
    let stored = store.run(run).unwrap().unwrap();
    assert_eq!((stored.ended.as_deref(), stored.record), (Some("2026-01-01T00:00:09Z"), Some(record)));
    assert!(store.run(run + 1).unwrap().is_none());
}

/// A page lists runs and reads their verdicts by another statement.
pub(super) fn runs_removed_after_they_were_listed_have_no_verdicts(place: &TestPlace) {
    let store = place.open();
    let runs = ["first", "second"].map(|id| begin(&store, id, &outline("a", 3)));
    let verdicts = GateVerdicts { judgements: vec![], out_of_scope: vec!["a_gate".into()] };
    runs.iter().for_each(|run| store.set_verdicts(*run, &verdicts, None, "2026-01-01T00:00:09Z").unwrap());
    let listed = store.list_runs(None, None, 10).unwrap();
    store.engine.remove_run(runs[1]).unwrap();
    assert_eq!(store.verdicts_of_listed(&listed).unwrap(), [GateVerdicts::default(), verdicts]);
}

pub(super) fn concurrent_opens_create_one_store(place: &TestPlace) {
    std::thread::scope(|scope| {
        let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| place.open().runs().unwrap().len())).collect();
        for opener in openers {
            assert_eq!(opener.join().unwrap(), 0);
        }
    });
    begin(&place.open(), "first", &outline("a", 3));
    assert_eq!(place.open().runs().unwrap().len(), 1);
}

pub(super) fn a_missing_store_is_not_created_by_a_reader(place: &TestPlace) {
    assert!(Store::open_existing(&place.location, super::all_pass).unwrap().is_none());
    assert!(Store::open_existing(&place.location, super::all_pass).unwrap().is_none());
    begin(&place.open(), "first", &outline("a", 3));
    let store = Store::open_existing(&place.location, super::all_pass).unwrap().unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
}
