//! Copies of runs between engines, in every direction.

use super::{TestPlace, begin, call, example, outline, row};
use crate::*;
use model::{ContentHash, GateVerdicts};

/// Stores a run with everything that a run can have.
fn fill(store: &Store) -> StoredRun {
    let mut record = example("a", 600);
    record.transcripts[7].events[0].happened = model::transcript::EventKind::UserSaid { text: "nul \0 in it".into() };
    let run = begin(store, &ContentHash::of_text("first").to_string(), &outline("a", 600));
    for n in 0..600 {
        let output = (n % 2 == 0).then(|| AgentOutput { stdout_bytes: n as u64, stderr: format!("\0 {n}") });
        store.add_trial(&TrialRow { output, ..row(run, n, &record) }).unwrap();
    }
    for n in 0..300 {
        store.reserve_call(&call(run, n), 5).unwrap();
        match n % 3 {
            0 => store.settle_call(&call(run, n), 2, Some(7), "{\"a\":\"\\u0000\"}").unwrap(),
            1 => store.fail_call(&call(run, n), 1, "dropped\0").unwrap(),
            _ => {}
        }
    }
    store.add_telemetry(run, "retries", 3).unwrap();
    let verdicts = GateVerdicts { judgements: vec![], out_of_scope: record.out_of_scope.clone() };
    store.set_verdicts(run, &verdicts, Some(&record.hash()), "2026-01-01T00:00:09Z").unwrap();
    store.run(run).unwrap().unwrap()
}

fn copy_between(from: &TestPlace, to: &TestPlace) {
    let (source, target) = (from.open(), to.open());
    // Keys differ between the stores.
    begin(&target, "other", &outline("a", 1));
    let run = fill(&source);
    let rows = CopiedRows { trials: 600, calls: 300 };
    // Runs of a list lack the cases of their plans; their copies do not.
    let listed = source.listed_runs().unwrap().remove(0);
    assert!(listed.id == run.id && listed.plan != run.plan);
    assert_eq!(source.copy_run(&listed, &target).unwrap(), RunCopy::Copied(rows));
    assert_eq!(source.copy_run(&run, &target).unwrap(), RunCopy::AlreadyThere(rows));
    let copy = target.run_with_id(&run.id).unwrap().unwrap();
    assert_eq!(StoredRun { run: run.run, ..copy.clone() }, run);
    assert_eq!(target.record(&copy).unwrap(), source.record(&run).unwrap());
    assert_eq!(target.record(&copy).unwrap().hash(), run.record.clone().unwrap());
    assert_eq!(target.agent_output(copy.run, 4).unwrap(), source.agent_output(run.run, 4).unwrap());
    assert_eq!(target.agent_output(copy.run, 5).unwrap(), None);
    assert_eq!(target.call_counts(copy.run).unwrap(), source.call_counts(run.run).unwrap());
    assert_eq!(target.settled_reply(&call(copy.run, 3)).unwrap(), source.settled_reply(&call(run.run, 3)).unwrap());
    assert_eq!(target.telemetry(copy.run).unwrap(), [("retries".to_owned(), 3)]);
    assert_eq!(target.spending(copy.run).unwrap(), source.spending(run.run).unwrap());
    assert_eq!(target.runs().unwrap().len(), 2);
    // And back, where it is.
    assert_eq!(target.copy_run(&copy, &source).unwrap(), RunCopy::AlreadyThere(rows));
}

#[test]
fn sqlite_to_postgres() {
    copy_between(&TestPlace::sqlite(), &TestPlace::postgres());
}

#[test]
fn postgres_to_sqlite() {
    copy_between(&TestPlace::postgres(), &TestPlace::sqlite());
}

#[test]
fn postgres_to_postgres() {
    copy_between(&TestPlace::postgres(), &TestPlace::postgres());
}

#[test]
fn a_run_of_the_same_id_is_never_overwritten() {
    let (from, to) = (TestPlace::sqlite(), TestPlace::postgres());
    let (source, target) = (from.open(), to.open());
    let run = fill(&source);
    source.copy_run(&run, &target).unwrap();
    for change in
        ["UPDATE trials SET wall_us = 6 WHERE n = 3", "UPDATE calls SET cost = 3 WHERE n = 0", "DELETE FROM agent_output WHERE n = 2"]
    {
        to.sql(change);
        let error = source.copy_run(&run, &target).unwrap_err();
        assert!(matches!(error, StoreError::NotCopied { .. }), "{change}: {error}");
    }
    assert_eq!(to.sql("SELECT wall_us FROM trials WHERE n = 3"), "6");
}

#[test]
fn a_run_whose_record_was_tampered_with_is_refused() {
    for change in [
        "UPDATE trials SET scores = '[]' WHERE n = 3",
        "UPDATE trials SET events = '[]' WHERE n = 3",
        "DELETE FROM trials WHERE n = 599",
        "UPDATE runs SET verdicts = '{\"judgements\":[],\"out_of_scope\":[]}'",
    ] {
        let (from, to) = (TestPlace::sqlite(), TestPlace::postgres());
        let (source, target) = (from.open(), to.open());
        let run = fill(&source);
        from.sql(change);
        assert!(matches!(source.copy_run(&run, &target), Err(StoreError::NotCopied { .. })), "{change}");
        assert!(target.runs().unwrap().is_empty());
    }
}

#[test]
fn an_interrupted_copy_begins_anew_and_an_unfinished_run_is_copied_when_it_is_idle() {
    let (from, to) = (TestPlace::postgres(), TestPlace::sqlite());
    let (source, target) = (from.open(), to.open());
    let record = example("a", 3);
    let key = begin(&source, "half", &outline("a", 3));
    source.add_trial(&row(key, 1, &record)).unwrap();
    let run = source.run(key).unwrap().unwrap();
    let left = begin(&target, "copying-half", &outline("a", 3));
    target.add_trial(&row(left, 2, &record)).unwrap();
    let other = from.open();
    let lock = other.lock_run("half").unwrap();
    assert!(matches!(source.copy_run(&run, &target), Err(StoreError::InUse { .. })));
    drop(lock);
    assert_eq!(source.copy_run(&run, &target).unwrap(), RunCopy::Copied(CopiedRows { trials: 1, calls: 0 }));
    assert_eq!(target.runs().unwrap().len(), 1);
    let copy = target.run_with_id("half").unwrap().unwrap();
    assert_eq!((copy.record, copy.ended, copy.finished), (None, None, 1));
}
