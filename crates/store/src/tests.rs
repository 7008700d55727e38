//! Tests of the store through its public functions.

use super::*;
use model::scores_to_json;
use model::transcript::EventKind;
use model::{
    CaseOutcome, ContentHash, Ending, Event, GateVerdicts, Plan, PlanOutline, PlannedCase, PlannedSubject, RECORD_FORMAT, Reading,
    RunClaim, RunRecord, Score, ScorerId, Transcript, TrialScores,
};
use std::sync::mpsc::channel;

/// Outcome rule under which every trial passes. The real rule is in `score`.
pub(crate) fn all_pass(_: &Ending, _: &[Score]) -> CaseOutcome {
    CaseOutcome::Passed
}

fn open(path: &std::path::Path) -> Result<Store, StoreError> {
    Store::open(path, all_pass)
}

pub(crate) fn outline(word: &str, trials: u64) -> PlanOutline {
    let cases = vec![PlannedCase { case: "a_case".into(), hash: ContentHash::of_text(word) }];
    let subjects = vec![PlannedSubject { subject: "echo".into(), configuration: ContentHash::of_text("echo") }];
    PlanOutline { cases, subjects, trials, seed: 1, workspace_version: Some(3) }
}

pub(crate) fn example(word: &str, trials: u64) -> RunRecord {
    let plan = Plan { workspace: ContentHash::of_text(word), workspace_version: Some(3), trials: outline(word, trials).trials() };
    let said = |text: &str| Event { n: 1, at_ms: 0, by: "user".into(), depth: 0, happened: EventKind::UserSaid { text: text.into() } };
    let transcripts = plan.trials.iter().map(|trial| Transcript {
        trial: trial.id.clone(),
        case: trial.case.clone(),
        subject: trial.subject.clone(),
        events: vec![said(&trial.seed.to_string())],
        ending: Ending::Finished,
    });
    let score = Score::new(ScorerId::CasePass, Reading::from_bool(true), vec![]);
    let scores = plan.trials.iter().map(|trial| TrialScores { trial: trial.id.clone(), scores: vec![score.clone()] });
    RunRecord {
        format: RECORD_FORMAT,
        claim: RunClaim::default(),
        transcripts: transcripts.collect(),
        scores: scores.collect(),
        plan,
        judgements: vec![],
        out_of_scope: vec!["a_gate".into()],
    }
}

pub(crate) fn begin(store: &Store, id: &str, outline: &PlanOutline) -> i64 {
    let (workspace, claim) = (&ContentHash::of_text("a"), &RunClaim::default());
    let new =
        NewRun { id, started: "2026-01-01T00:00:00Z", workspace, claim, settings: "{}", plan: Some(outline), planned: 3, budget: None };
    store.begin_run(&new).unwrap()
}

pub(crate) fn row(run: i64, n: usize, record: &RunRecord) -> TrialRow {
    TrialRow {
        run,
        n: n as u64,
        trial: record.plan.trials[n].clone(),
        outcome: CaseOutcome::Passed,
        wall_us: 5,
        transcript: record.transcripts[n].to_serialized(),
        scores: scores_to_json(&record.scores[n].scores),
        output: None,
    }
}

fn call(run: i64, n: u32) -> CallKey {
    CallKey { run, trial: ContentHash::of_text("t"), role: "subject", n }
}

fn wait(journal: &Journal, write: JournalWrite) -> Result<(), StoreError> {
    let (sender, receiver) = channel();
    journal.write_with_callback(write, Box::new(move |result| drop(sender.send(result))));
    receiver.recv().unwrap()
}

#[test]
fn stored_run_reads_back_from_another_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let (record, plan) = (example("a", 3), outline("a", 3));
    let store = open(&path).unwrap();
    let run = begin(&store, "first", &plan);
    // Not in plan order.
    for n in [2, 0, 1] {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    let verdicts = GateVerdicts { judgements: vec![], out_of_scope: record.out_of_scope.clone() };
    store.set_verdicts(run, &verdicts, Some(&record.hash()), "2026-01-01T00:00:09Z").unwrap();
    drop(store);
    let store = open(&path).unwrap();
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

#[test]
fn trials_are_found_by_case_or_id_without_reading_others() {
    let store = Store::open_in_memory().unwrap();
    let record = example("a", 3);
    let run = begin(&store, "first", &outline("a", 3));
    for n in 0..3 {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    // The events of other trials may even be unreadable.
    store.connection.execute("UPDATE trials SET events = 'no json' WHERE n > 0", []).unwrap();
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

/// The dump was written by a version without `CaseOutcome`.
#[test]
fn store_v2_fixture_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(include_str!("../fixtures/store_v2.sql")).unwrap();
    let store = open(&path).unwrap();
    let runs = store.runs().unwrap();
    let counts: Vec<_> = runs.iter().map(|run| (run.planned, run.finished, run.passed)).collect();
    assert_eq!(counts, [(1, 1, 1), (4, 4, 2)]);
    for run in &runs {
        assert_eq!(Some(store.record(run).unwrap().hash()), run.record);
        let mut ended = 0;
        store.for_each_ended(run.run, |trial| ended += u64::from(trial.ending == Ending::Finished && !trial.scores.is_empty())).unwrap();
        assert_eq!(ended, run.finished);
    }
}

#[test]
fn sql_views_expose_scores_and_events() {
    let store = Store::open_in_memory().unwrap();
    let record = example("a", 2);
    let run = begin(&store, "first", &outline("a", 2));
    store.add_trial(&row(run, 0, &record)).unwrap();
    let one = |sql: &str| store.connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(one("SELECT scorer || ' ' || hit || '/' || of FROM scores"), "case_pass 1/1");
    assert_eq!(one("SELECT happened ->> '$.user_said.text' FROM events"), "1");
    assert_eq!(one("SELECT ending FROM trials"), "finished");
}

#[test]
fn runs_are_newest_first_and_removable() {
    let store = Store::open_in_memory().unwrap();
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
        let left: i64 = store.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert!(store.run(second).unwrap().is_some());
}

#[test]
fn reserved_call_counts_at_ceiling_and_is_paid_once() {
    let store = Store::open_in_memory().unwrap();
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

#[test]
fn orphaned_calls_cost_their_ceiling_and_are_retryable() {
    let store = Store::open_in_memory().unwrap();
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

#[test]
fn cached_reply_expires() {
    let store = Store::open_in_memory().unwrap();
    let key = ContentHash::of_text("request");
    store.cache_reply(&key, 1_000, "one").unwrap();
    assert_eq!(store.cached_reply(&key, 1_000).unwrap().as_deref(), Some("one"));
    assert_eq!(store.cached_reply(&key, 1_001).unwrap(), None);
    store.cache_reply(&key, 2_000, "two").unwrap();
    assert_eq!(store.cached_reply(&key, 1_001).unwrap().as_deref(), Some("two"));
    assert_eq!(store.evict_replies_before(2_001).unwrap(), 1);
}

#[test]
fn journal_commits_waited_and_unwaited_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).unwrap();
    let run = begin(&store, "first", &outline("a", 3));
    let journal = Journal::new(store).unwrap();
    let other = open(&path).unwrap();
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

#[test]
fn journal_failure_is_reported_to_later_writes() {
    let store = Store::open_in_memory().unwrap();
    let run = begin(&store, "first", &outline("a", 3));
    let journal = Journal::new(store).unwrap();
    journal.write(JournalWrite::Settle { call: call(run, 5), cost: 1, waited_us: None, reply: "{}".into() });
    assert!(wait(&journal, JournalWrite::Barrier).unwrap_err().to_string().contains("was not reserved"));
    assert!(wait(&journal, JournalWrite::Reserve { call: call(run, 0), ceiling: 9 }).is_err());
    assert!(journal.failure().is_some());
}

#[test]
fn run_lock_is_exclusive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let (one, two) = (open(&path).unwrap(), open(&path).unwrap());
    let lock = one.lock_run("first").unwrap();
    assert!(matches!(two.lock_run("first"), Err(StoreError::InUse { .. })));
    two.lock_run("second").unwrap();
    drop(lock);
    two.lock_run("first").unwrap();
}

#[test]
fn concurrent_journals_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let record = example("a", 40);
    let journals: Vec<(i64, Journal)> = ["one", "two"]
        .into_iter()
        .map(|id| {
            let store = open(&path).unwrap();
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
    let store = open(&path).unwrap();
    assert!(store.runs().unwrap().iter().all(|run| run.finished == 40));
    assert_eq!(store.connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
}

#[test]
fn spending_is_grouped_by_case_and_role() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.sqlite")).unwrap();
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

#[test]
fn output_of_an_agent_is_kept_beside_the_record() {
    let store = Store::open_in_memory().unwrap();
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
