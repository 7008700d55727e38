//! Texts and numbers that a database may refuse or change, on both engines.

use super::{TestPlace, begin, call, example, outline, row};
use crate::*;
use model::transcript::EventKind;
use model::{ContentHash, RunRecord, Trial};

/// Texts with characters that JSON, SQL or PostgreSQL treat in a special way.
const TEXTS: &[&str] = &[
    "a\0b",
    "\0",
    "\u{1}0\u{1}1\u{1}",
    "\\u0000",
    "\\\\u0000 \\ud800",
    "'; DROP TABLE trials; --",
    "$1 %s {0} \"quoted\" back\\slash",
    "\u{fffd}\u{202e}\u{10ffff}\u{feff}",
    "line\r\nbreak\ttab\u{7f}",
];

fn with_text(text: &str) -> RunRecord {
    let mut record = example("a", 1);
    record.plan.trials[0] = Trial { case: text.into(), subject: text.into(), ..record.plan.trials[0].clone() };
    record.transcripts[0].case = text.into();
    record.transcripts[0].subject = text.into();
    record.transcripts[0].events[0].happened = EventKind::UserSaid { text: text.into() };
    record
}

pub(super) fn nul_and_control_characters_survive(place: &TestPlace) {
    let store = place.open();
    for text in TEXTS {
        let record = with_text(text);
        let id = ContentHash::of_text(text).to_string();
        let workspace = ContentHash::of_text("a");
        let new = NewRun {
            id: &id,
            started: text,
            workspace: &workspace,
            claim: &model::RunClaim::default(),
            settings: text,
            plan: None,
            planned: 1,
            budget: None,
        };
        let run = store.begin_run(&new).unwrap();
        let output = AgentOutput { stdout_bytes: 1, stderr: (*text).to_owned() };
        store.add_trial(&TrialRow { output: Some(output.clone()), ..row(run, 0, &record) }).unwrap();
        store.reserve_call(&call(run, 0), 5).unwrap();
        store.fail_call(&call(run, 0), 1, text).unwrap();
        store.reserve_call(&call(run, 0), 5).unwrap();
        store.settle_call(&call(run, 0), 1, None, text).unwrap();
        store.add_telemetry(run, text, 1).unwrap();
        store.cache_reply(&ContentHash::of_text(text), 1, text).unwrap();
        let stored = store.run(run).unwrap().unwrap();
        assert_eq!((stored.started.as_str(), stored.settings.as_str(), &stored.subjects), (*text, *text, &vec![(*text).to_owned()]));
        let (trial, transcript, _) = store.read_transcript(run, 0).unwrap().unwrap();
        assert_eq!((&trial, &transcript), (&record.plan.trials[0], &record.transcripts[0]), "{text:?}");
        assert_eq!(store.agent_output(run, 0).unwrap(), Some(output));
        assert_eq!(store.settled_reply(&call(run, 0)).unwrap(), Some((1, (*text).to_owned())));
        assert_eq!(store.telemetry(run).unwrap(), [((*text).to_owned(), 1)]);
        assert_eq!(store.cached_reply(&ContentHash::of_text(text), 0).unwrap().as_deref(), Some(*text));
        assert_eq!(store.cases_of_run(run).unwrap(), [*text]);
        assert_eq!(store.find_trials(run, text, None, 9).unwrap().count, 1);
        let filter =
            TrialFilter { subject: (*text).to_owned(), text: (*text).to_owned(), scorer: "other".into(), ..TrialFilter::default() };
        assert!(store.list_trials(run, &filter, 0, 9).unwrap().rows.is_empty());
        let filter = TrialFilter { scorer: String::new(), ..filter };
        assert_eq!(store.list_trials(run, &filter, 0, 9).unwrap().rows.len(), 1, "{text:?}");
        assert_eq!(store.count_world_answers(run).unwrap(), 0);
        assert_eq!(place.sql(&format!("SELECT count(*) FROM events WHERE run = {run}")), "1", "views read what is stored");
        assert_eq!(store.record(&stored).unwrap().transcripts, record.transcripts);
    }
}

pub(super) fn numbers_beyond_the_store_are_refused_unwritten(place: &TestPlace) {
    let store = place.open();
    let record = example("a", 1);
    let run = begin(&store, "first", &outline("a", 1));
    let mut new = row(run, 0, &record);
    new.trial.seed = i64::MAX as u64;
    store.add_trial(&new).unwrap();
    assert_eq!(store.read_transcript(run, 0).unwrap().unwrap().0.seed, i64::MAX as u64);
    store.remove_trials_from(run, 0).unwrap();
    new.trial.seed += 1;
    assert!(store.add_trial(&new).is_err());
    assert!(store.add_trial(&TrialRow { wall_us: u64::MAX, ..row(run, 0, &record) }).is_err());
    assert!(store.set_budget(run, Some(u64::MAX)).is_err());
    assert!(store.reserve_call(&call(run, 0), u64::MAX).is_err());
    assert_eq!((store.run(run).unwrap().unwrap().finished, store.call_counts(run).unwrap()), (0, CallStateCounts::default()));
    store.reserve_call(&call(run, u32::MAX), i64::MAX as u64).unwrap();
    assert_eq!(store.call_counts(run).unwrap().reserved, 1);
}

pub(super) fn large_rows_survive(place: &TestPlace) {
    let store = place.open();
    let mut record = example("a", 3);
    for (n, transcript) in record.transcripts.iter_mut().enumerate() {
        // Text that does not shrink when it is compressed, 12 MB in all.
        let text: String = (0..65_536).map(|k| ContentHash::of_text(&format!("{n} {k}")).to_string()).collect();
        transcript.events[0].happened = EventKind::UserSaid { text };
    }
    let run = begin(&store, "first", &outline("a", 3));
    let rows: Vec<JournalWrite> = (0..3).map(|n| JournalWrite::Trial(Box::new(row(run, n, &record)))).collect();
    store.engine.write(&rows).unwrap();
    assert_eq!(store.record(&store.run(run).unwrap().unwrap()).unwrap().transcripts, record.transcripts);
}

pub(super) fn text_search_takes_patterns_literally(place: &TestPlace) {
    let store = place.open();
    let texts = ["100% sure", "a_b", "aXb", "Straße ÄÖ", "back\\slash", "\"quoted\""];
    let mut record = example("a", texts.len() as u64);
    let run = begin(&store, "first", &outline("a", texts.len() as u64));
    for (n, text) in texts.iter().enumerate() {
        record.transcripts[n].events[0].happened = EventKind::UserSaid { text: (*text).into() };
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    let found = |text: &str| {
        let page = store.list_trials(run, &TrialFilter { text: text.into(), ..TrialFilter::default() }, 0, 9).unwrap();
        page.rows.iter().map(|row| row.n).collect::<Vec<_>>()
    };
    assert_eq!((found("100% S"), found("a_b"), found("A_B")), (vec![0], vec![1], vec![1]));
    assert_eq!((found("STRA"), found("straße"), found("äö")), (vec![3], vec![3], vec![]), "letters beyond ASCII are compared as they are");
    assert_eq!((found("back\\s"), found("\"quo"), found("nothing")), (vec![4], vec![5], vec![]));
}

pub(super) fn sums_are_capped(place: &TestPlace) {
    let store = place.open();
    let run = begin(&store, "first", &outline("a", 1));
    for n in 0..3 {
        store.reserve_call(&call(run, n), i64::MAX as u64).unwrap();
        store.settle_call(&call(run, n), 4_000_000_000_000_000_000, None, "{}").unwrap();
    }
    assert_eq!(store.total_spending(run).unwrap(), 9_000_000_000_000_000_000);
    assert_eq!(store.run(run).unwrap().unwrap().spent, 9_000_000_000_000_000_000);
    assert_eq!(store.spending(run).unwrap()[0].nanos, 9_000_000_000_000_000_000);
    assert_eq!(store.trial_costs(run, 9).unwrap(), [9_000_000_000_000_000_000]);
}
