//! Tests of what comes back out of a store.

use super::*;
use model::transcript::Happened;
use model::written_scores;
use model::{
    CaseOutcome, Claim, Ending, Event, FORMAT, GateVerdicts, Hash, Outline, Plan, Planned, Reading, RunRecord, Score, ScorerId, Seated,
    Transcript, TrialScores,
};
use std::sync::mpsc::channel;

/// Every trial passes; the rule of the product lives in `score`.
pub(crate) fn all_pass(_: &Ending, _: &[Score]) -> CaseOutcome {
    CaseOutcome::Passed
}

fn open(path: &std::path::Path) -> Result<Store, StoreError> {
    Store::open(path, all_pass)
}

pub(crate) fn outline(word: &str, trials: u64) -> Outline {
    let cases = vec![Planned { case: "a_case".into(), hash: Hash::of_text(word) }];
    let subjects = vec![Seated { subject: "echo".into(), configuration: Hash::of_text("echo") }];
    Outline { cases, subjects, trials, seed: 1 }
}

pub(crate) fn example(word: &str, trials: u64) -> RunRecord {
    let plan = Plan { workspace: Hash::of_text(word), trials: outline(word, trials).trials() };
    let said = |text: &str| Event { n: 1, at_ms: 0, by: "user".into(), depth: 0, happened: Happened::UserSaid { text: text.into() } };
    let transcripts = plan.trials.iter().map(|trial| Transcript {
        trial: trial.id.clone(),
        case: trial.case.clone(),
        subject: trial.subject.clone(),
        events: vec![said(&trial.seed.to_string())],
        ending: Ending::Finished,
    });
    let score = Score { scorer: ScorerId::CasePass.into(), reading: Reading::one(true), because: vec![] };
    let scores = plan.trials.iter().map(|trial| TrialScores { trial: trial.id.clone(), scores: vec![score.clone()] });
    RunRecord {
        format: FORMAT,
        claim: Claim::default(),
        transcripts: transcripts.collect(),
        scores: scores.collect(),
        plan,
        judgements: vec![],
        out_of_scope: vec!["a_gate".into()],
    }
}

fn begin(store: &Store, id: &str, outline: &Outline) -> i64 {
    let (workspace, claim) = (&Hash::of_text("a"), &Claim::default());
    let new =
        NewRun { id, started: "2026-01-01T00:00:00Z", workspace, claim, settings: "{}", plan: Some(outline), planned: 3, budget: None };
    store.begin(&new).unwrap()
}

fn row(run: i64, n: usize, record: &RunRecord) -> TrialRow {
    TrialRow {
        run,
        n: n as u64,
        trial: record.plan.trials[n].clone(),
        outcome: CaseOutcome::Passed,
        wall_us: 5,
        written: record.transcripts[n].written(),
        scores: written_scores(&record.scores[n].scores),
    }
}

fn call(run: i64, n: u32) -> CallKey {
    CallKey { run, trial: Hash::of_text("t"), role: "subject", n }
}

fn wait(journal: &Journal, write: Write) -> Result<(), StoreError> {
    let (tell, told) = channel();
    journal.write_then(write, Box::new(move |result| drop(tell.send(result))));
    told.recv().unwrap()
}

#[test]
fn what_is_kept_comes_back_from_another_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let (record, plan) = (example("a", 3), outline("a", 3));
    let store = open(&path).unwrap();
    let run = begin(&store, "first", &plan);
    // In another order than planned.
    for n in [2, 0, 1] {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    let verdicts = GateVerdicts { judgements: vec![], out_of_scope: record.out_of_scope.clone() };
    store.judge(run, &verdicts, Some(&record.hash()), "2026-01-01T00:00:09Z").unwrap();
    drop(store);
    let store = open(&path).unwrap();
    let kept = store.runs().unwrap().remove(0);
    assert_eq!((kept.finished, kept.passed, kept.spent, kept.ended.is_some()), (3, 3, 0, true));
    assert!(kept.is_named("first") && kept.is_named(&record.hash().as_str()[..5]) && !kept.is_named("other"));
    assert_eq!(store.record(&kept).unwrap(), record);
    assert_eq!(store.record(&kept).unwrap().hash(), record.hash());
    let mut seen = vec![];
    store.each_ended(run, |ended| seen.push((ended.n, ended.content, ended.scores_hash))).unwrap();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[1].1, record.transcripts[1].written().content);
}

/// The dump was made from a store of the program before `CaseOutcome`.
#[test]
fn a_store_of_an_earlier_program_is_read() {
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
        store.each_ended(run.run, |trial| ended += u64::from(trial.ending == Ending::Finished && !trial.scores.is_empty())).unwrap();
        assert_eq!(ended, run.finished);
    }
}

#[test]
fn views_show_scores_and_events_to_whoever_opens_the_file() {
    let store = Store::memory().unwrap();
    let record = example("a", 2);
    let run = begin(&store, "first", &outline("a", 2));
    store.add_trial(&row(run, 0, &record)).unwrap();
    let one = |sql: &str| store.connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(one("SELECT scorer || ' ' || hit || '/' || of FROM scores"), "case_pass 1/1");
    assert_eq!(one("SELECT happened ->> '$.user_said.text' FROM events"), "1");
    assert_eq!(one("SELECT ending FROM trials"), "finished");
}

#[test]
fn the_newest_run_comes_first_and_a_removed_one_is_gone() {
    let store = Store::memory().unwrap();
    let plan = outline("a", 3);
    let (first, second) = (begin(&store, "first", &plan), begin(&store, "second", &plan));
    store.add_trial(&row(first, 0, &example("a", 3))).unwrap();
    store.reserve(&call(first, 0), 7).unwrap();
    store.count(first, "retries", 1).unwrap();
    let ids: Vec<String> = store.runs().unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids, ["second", "first"]);
    store.remove(first).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
    for table in ["trials", "calls", "telemetry"] {
        let left: i64 = store.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert!(store.run(second).unwrap().is_some());
}

#[test]
fn a_call_is_paid_once_and_counts_at_its_ceiling_while_it_is_under_way() {
    let store = Store::memory().unwrap();
    let run = begin(&store, "first", &outline("a", 3));
    let spent = || store.run(run).unwrap().unwrap().spent;
    store.reserve(&call(run, 0), 100).unwrap();
    assert_eq!(spent(), 100);
    assert!(store.reserve(&call(run, 0), 100).is_err(), "it is under way");
    store.fail(&call(run, 0), 3, "dropped").unwrap();
    assert_eq!(spent(), 3);
    store.reserve(&call(run, 0), 100).unwrap();
    assert_eq!(spent(), 103);
    store.settle(&call(run, 0), 40, Some(12), "{\"a\":1}").unwrap();
    assert_eq!(spent(), 43);
    assert_eq!(store.settled(&call(run, 0)).unwrap(), Some((40, "{\"a\":1}".to_owned())));
    assert_eq!(store.settled(&call(run, 1)).unwrap(), None);
    assert!(store.reserve(&call(run, 0), 100).is_err(), "it is paid");
    assert!(store.settle(&call(run, 1), 1, None, "{}").is_err() && store.fail(&call(run, 1), 1, "x").is_err());
}

#[test]
fn calls_of_a_dead_process_count_at_their_ceiling_and_may_be_asked_again() {
    let store = Store::memory().unwrap();
    let run = begin(&store, "first", &outline("a", 3));
    store.reserve(&call(run, 0), 100).unwrap();
    store.reserve(&call(run, 1), 100).unwrap();
    store.settle(&call(run, 1), 10, None, "{}").unwrap();
    assert_eq!(store.adopt(run).unwrap(), 1);
    assert_eq!(store.run(run).unwrap().unwrap().spent, 110);
    store.reserve(&call(run, 0), 50).unwrap();
    assert_eq!(store.run(run).unwrap().unwrap().spent, 160);
    assert_eq!(store.telemetry(run).unwrap(), [("asked_again".to_owned(), 1)]);
}

#[test]
fn a_kept_reply_grows_old() {
    let store = Store::memory().unwrap();
    let key = Hash::of_text("request");
    store.keep(&key, 1_000, "one").unwrap();
    assert_eq!(store.cached(&key, 1_000).unwrap().as_deref(), Some("one"));
    assert_eq!(store.cached(&key, 1_001).unwrap(), None);
    store.keep(&key, 2_000, "two").unwrap();
    assert_eq!(store.cached(&key, 1_001).unwrap().as_deref(), Some("two"));
    assert_eq!(store.forget(2_001).unwrap(), 1);
}

#[test]
fn a_journal_commits_for_whoever_waits_and_for_whoever_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).unwrap();
    let run = begin(&store, "first", &outline("a", 3));
    let journal = Journal::new(store).unwrap();
    let other = open(&path).unwrap();
    let record = example("a", 3);
    journal.write(Write::Trial(Box::new(row(run, 0, &record))));
    wait(&journal, Write::Reserve { call: call(run, 0), ceiling: 9 }).unwrap();
    let seen = other.run(run).unwrap().unwrap();
    assert_eq!((seen.finished, seen.spent), (1, 9), "what stood before in the line is committed too");
    journal.write(Write::Trial(Box::new(row(run, 1, &record))));
    assert_eq!(journal.look_now(move |store| store.run(run).unwrap().unwrap().finished).unwrap(), 2);
    journal.write(Write::Trial(Box::new(row(run, 2, &record))));
    drop(journal);
    assert_eq!(other.run(run).unwrap().unwrap().finished, 3);
}

#[test]
fn a_journal_that_failed_says_so_to_everyone_after() {
    let store = Store::memory().unwrap();
    let run = begin(&store, "first", &outline("a", 3));
    let journal = Journal::new(store).unwrap();
    journal.write(Write::Settle { call: call(run, 5), cost: 1, waited_us: None, reply: "{}".into() });
    assert!(wait(&journal, Write::Mark).unwrap_err().to_string().contains("was not reserved"));
    assert!(wait(&journal, Write::Reserve { call: call(run, 0), ceiling: 9 }).is_err());
    assert!(journal.failed().is_some());
}

#[test]
fn a_run_has_one_worker() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let (one, two) = (open(&path).unwrap(), open(&path).unwrap());
    let lock = one.lock("first").unwrap();
    assert!(matches!(two.lock("first"), Err(StoreError::InUse { .. })));
    two.lock("second").unwrap();
    drop(lock);
    two.lock("first").unwrap();
}

#[test]
fn two_writers_of_one_store_wait_for_each_other() {
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
                    journal.write(Write::Trial(Box::new(row(run, n, record))));
                    wait(&journal, Write::Mark).unwrap();
                }
            });
        }
    });
    let store = open(&path).unwrap();
    assert!(store.runs().unwrap().iter().all(|run| run.finished == 40));
    assert_eq!(store.connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
}

#[test]
fn spending_is_told_by_case_and_role_and_answers_are_counted_where_a_model_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.sqlite")).unwrap();
    let mut record = example("a", 2);
    let answer = model::transcript::ToolAnswer::Result(serde_json::json!({}));
    for transcript in &mut record.transcripts {
        let happened = Happened::Answered { call: 1, answer: answer.clone() };
        transcript.events.push(Event { n: 2, at_ms: 0, by: "echo".into(), depth: 0, happened });
    }
    let run = begin(&store, "r", &outline("a", 2));
    for n in 0..2 {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    let asked = |n, role| CallKey { run, trial: record.plan.trials[0].id.clone(), role, n };
    for (key, cost) in [(asked(0, "subject"), 30), (asked(1, "subject"), 40), (asked(0, "judge"), 5)] {
        store.reserve(&key, 100).unwrap();
        store.settle(&key, cost, None, "{}").unwrap();
    }
    store.reserve(&call(run, 0), 1000).unwrap();
    let told: Vec<_> = store.spending(run).unwrap().into_iter().map(|one| (one.case, one.role, one.calls, one.nanos)).collect();
    let case = || Some("a_case".to_owned());
    assert_eq!(told, [(None, "subject".into(), 1, 1000), (case(), "judge".into(), 1, 5), (case(), "subject".into(), 2, 70)]);
    assert_eq!(store.answered_by_world(run).unwrap(), 1, "the second trial asked nobody");
}
