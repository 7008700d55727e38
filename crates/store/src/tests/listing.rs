//! Lists, pages and ranges on both engines.

use super::{TestPlace, begin, call, example, outline, row};
use crate::*;
use model::transcript::FaultSource;
use model::{CaseOutcome, ContentHash, Ending, PlanOutline, Reading, RunRecord, Score, ScorerId, Trial, scores_to_json};

/// Returns a record whose trials have the cases and subjects given.
fn record_of(rows: &[(&str, &str)]) -> RunRecord {
    let mut record = example("a", rows.len() as u64);
    for (n, (case, subject)) in rows.iter().enumerate() {
        let trial = Trial { case: (*case).into(), subject: (*subject).into(), ..record.plan.trials[n].clone() };
        record.plan.trials[n] = trial;
    }
    record
}

fn positions(page: &TrialPage) -> Vec<u64> {
    page.rows.iter().map(|row| row.n).collect()
}

pub(super) fn pages_follow_positions_and_filters(place: &TestPlace) {
    let store = place.open();
    let record = record_of(&[("swap", "one"), ("swap", "two"), ("Swap_all", "one"), ("lend", "one"), ("swap", "one"), ("lend", "two")]);
    let run = begin(&store, "first", &outline("a", 6));
    let outcomes = [CaseOutcome::Passed, CaseOutcome::Failed, CaseOutcome::Unjudged];
    for n in 0..6 {
        let mut new = row(run, n, &record);
        new.outcome = outcomes[n % 3];
        if n == 4 {
            let ending = Ending::Aborted { by: FaultSource::Provider, why: "gone".into() };
            new.transcript = model::Transcript { ending, ..record.transcripts[n].clone() }.to_serialized();
        }
        if n == 3 {
            new.scores = scores_to_json(&[Score::new(ScorerId::CasePass, Reading::from_bool(false), vec![])]);
        }
        store.add_trial(&new).unwrap();
    }
    store.reserve_call(&CallKey { trial: record.plan.trials[1].id.clone(), ..call(run, 0) }, 50).unwrap();
    store.settle_call(&CallKey { trial: record.plan.trials[1].id.clone(), ..call(run, 0) }, 40, None, "{}").unwrap();
    let list = |filter: TrialFilter, from, most| store.list_trials(None, run, &filter, from, most).unwrap();
    let all = list(TrialFilter::default(), 0, 4);
    assert_eq!((positions(&all), all.next), (vec![0, 1, 2, 3], Some(4)));
    assert_eq!((all.rows[1].cost, all.rows[0].cost, all.rows[1].subject.as_str(), all.rows[1].wall_us), (40, 0, "two", 5));
    let rest = list(TrialFilter::default(), 4, 4);
    assert_eq!((positions(&rest), rest.next), (vec![4, 5], None));
    assert_eq!(rest.rows[0].outcome, StoredOutcome::Aborted);
    let found = |filter: TrialFilter| positions(&list(filter, 0, 9));
    assert_eq!(found(TrialFilter { case: "wap".into(), ..TrialFilter::default() }), [0, 1, 2, 4]);
    assert_eq!(found(TrialFilter { case: "swap".into(), ..TrialFilter::default() }), [0, 1, 4], "the case of letters counts");
    assert_eq!(found(TrialFilter { subject: "two".into(), ..TrialFilter::default() }), [1, 5]);
    for (outcome, expected) in [
        (StoredOutcome::Passed, vec![0, 3]),
        (StoredOutcome::Failed, vec![1]),
        (StoredOutcome::Unjudged, vec![2, 5]),
        (StoredOutcome::Aborted, vec![4]),
    ] {
        assert_eq!(found(TrialFilter { outcome: Some(outcome), ..TrialFilter::default() }), expected);
    }
    let terms = |text: &str, tool: &str, scorer: &str| SearchTerms { text: text.into(), tool: tool.into(), scorer: scorer.into() };
    assert_eq!(found(TrialFilter { terms: terms("", "", "case_pass"), ..TrialFilter::default() }), [3]);
    assert!(found(TrialFilter { terms: terms("", "no_tool", ""), ..TrialFilter::default() }).is_empty());
    assert!(found(TrialFilter { terms: terms("no such text", "", ""), ..TrialFilter::default() }).is_empty());
    assert_eq!(found(TrialFilter { least_cost: Some(40), ..TrialFilter::default() }), [1]);
    assert_eq!(found(TrialFilter { most_cost: Some(39), ..TrialFilter::default() }), [0, 2, 3, 4, 5]);
    assert_eq!(found(TrialFilter { least_us: Some(5), most_us: Some(5), ..TrialFilter::default() }).len(), 6);
    assert!(found(TrialFilter { least_us: Some(6), ..TrialFilter::default() }).is_empty());
    let chosen = store.trials_at(run, &TrialFilter { subject: "one".into(), ..TrialFilter::default() }, &[1, 2, 4]).unwrap();
    assert_eq!(chosen.iter().map(|row| row.n).collect::<Vec<_>>(), [2, 4]);
    assert!(store.trials_at(run, &TrialFilter::default(), &[]).unwrap().is_empty());
    let calls = store.calls_of_trial(run, record.plan.trials[1].id.as_str(), 9).unwrap();
    assert_eq!(
        calls.iter().map(|call| (call.state.as_str(), call.cost, call.reply.as_deref())).collect::<Vec<_>>(),
        [("settled", 40, Some("{}"))]
    );
    let listed = store.list_runs(None, None, 9).unwrap();
    assert_eq!((listed.len(), listed[0].id.as_str(), store.run_id(run).unwrap().as_deref()), (1, "first", Some("first")));
    let counts = &listed[0].counts;
    assert_eq!(
        (counts.finished, counts.passed, counts.aborted, counts.spent, counts.subjects.as_slice()),
        (6, 2, 1, 40, &["echo".to_owned()][..])
    );
    assert!(store.has_case_at_an_end(run, &|case| case == "lend").unwrap() && !store.has_case_at_an_end(run, &|case| case == "x").unwrap());
    // The index gives the same trials as a search without it.
    let index = SearchIndex::open_in_memory().unwrap();
    assert_eq!(index.update(&store, 99).unwrap(), IndexCoverage { runs: 1, behind: 0 });
    let indexed = |terms: SearchTerms| {
        positions(&store.list_trials(Some(&index), run, &TrialFilter { terms, ..TrialFilter::default() }, 0, 9).unwrap())
    };
    assert_eq!(indexed(terms("", "", "case_pass")), [3]);
    assert_eq!(indexed(terms("lend", "", "")), [3, 5]);
    assert_eq!(indexed(terms("SWAP", "", "")), [0, 1, 2, 4]);
    let page =
        |most| store.list_trials(Some(&index), run, &TrialFilter { terms: terms("SWAP", "", ""), ..TrialFilter::default() }, 0, most);
    assert_eq!(page(9).unwrap().next, None, "all that was found is on the page");
    assert_eq!(page(3).unwrap().next, Some(3), "the next page begins behind the last trial");
    assert_eq!(found(TrialFilter { cases: Some(vec!["lend".into(), "none".into()]), ..TrialFilter::default() }), [3, 5]);
    assert!(found(TrialFilter { cases: Some(vec![]), ..TrialFilter::default() }).is_empty());
}

pub(super) fn runs_are_paged_and_found_by_prefix(place: &TestPlace) {
    let store = place.open();
    let keys: Vec<i64> = ["aaaa1", "aaaa2", "bbbb"].iter().map(|id| begin(&store, id, &outline("a", 1))).collect();
    let record = ContentHash::of_text("record");
    store.set_verdicts(keys[0], &model::GateVerdicts::default(), Some(&record), "2026-01-01T00:00:09Z").unwrap();
    let ids = |runs: Vec<StoredRun>| runs.into_iter().map(|run| run.id).collect::<Vec<_>>();
    assert_eq!(ids(store.runs_before(None, 2).unwrap()), ["bbbb", "aaaa2"]);
    assert_eq!(ids(store.runs_before(Some(keys[1]), 2).unwrap()), ["aaaa1"]);
    let find = |prefix: &str| store.run_with_prefix(prefix).unwrap().map(|run| run.id);
    assert_eq!((find("aaaa").as_deref(), find("aaaa1").as_deref(), find("c")), (Some("aaaa2"), Some("aaaa1"), None));
    assert_eq!(find(&record.as_str()[..9]).as_deref(), Some("aaaa1"));
    assert_eq!(find("aa%"), None, "a prefix is no pattern");
    // Lists have the subjects and the version of a plan, but not its cases.
    let short = |run: StoredRun| StoredRun { plan: run.plan.map(|plan| PlanOutline { cases: vec![], ..plan }), ..run };
    assert!(store.runs().unwrap().iter().all(|run| run.plan.as_ref().is_some_and(|plan| !plan.cases.is_empty())));
    assert_eq!(store.listed_runs().unwrap(), store.runs().unwrap().into_iter().map(short).collect::<Vec<_>>());
    let heads = || store.list_runs(None, None, 10).unwrap();
    let first = heads();
    assert_eq!((first.len(), &first[2].counts.subjects, first[2].counts.finished), (3, &vec!["echo".to_owned()], 0));
    // A run that was completed again is counted again.
    let record = example("a", 1);
    store.engine.add_trials(&[row(keys[0], 0, &record)]).unwrap();
    store.set_verdicts(keys[0], &model::GateVerdicts::default(), Some(&ContentHash::of_text("other")), "2026-01-01T00:00:10Z").unwrap();
    assert_eq!(heads()[2].counts.finished, 1);
    assert_eq!(heads()[2].counts, heads()[2].counts);
}

pub(super) fn trials_are_read_within_a_range(place: &TestPlace) {
    let store = place.open();
    // More than the portions in which an engine reads.
    let count = 2_100;
    let record = example("a", count);
    let run = begin(&store, "first", &outline("a", count));
    let rows: Vec<JournalWrite> = (0..count as usize).map(|n| JournalWrite::Trial(Box::new(row(run, n, &record)))).collect();
    for group in rows.chunks(500) {
        store.engine.write(group).unwrap();
    }
    let mut seen = vec![];
    store.for_each_ended(run, |ended| seen.push(ended.n)).unwrap();
    assert_eq!(seen, (0..count).collect::<Vec<_>>());
    let mut transcripts = 0;
    store
        .for_each_transcript(run, |trial, transcript, _| {
            assert_eq!((&trial, &transcript), (&record.plan.trials[transcripts], &record.transcripts[transcripts]));
            transcripts += 1;
        })
        .unwrap();
    assert_eq!(transcripts as u64, count);
    let mut part = vec![];
    store.for_each_ended_within(run, 1_023..1_030, |ended| part.push(ended.n)).unwrap();
    assert_eq!(part, (1_023..1_030).collect::<Vec<_>>());
    let stopped = store.for_each_unread(run, |unread| if unread.n == 3 { Err(StoreError::Journal("stop".into())) } else { Ok(()) });
    assert_eq!(stopped.unwrap_err().to_string(), "the journal failed: stop");
}

pub(super) fn subjects_and_cases_are_in_order(place: &TestPlace) {
    let store = place.open();
    let record = record_of(&[("b", "zed"), ("B", "alf"), ("a", "zed"), ("é", "mid"), ("b", "alf")]);
    let workspace = ContentHash::of_text("a");
    let new = NewRun {
        id: "chat",
        started: "2026-01-01T00:00:00Z",
        workspace: &workspace,
        claim: &model::RunClaim::default(),
        settings: "{}",
        plan: None,
        planned: 5,
        budget: Some(3),
    };
    let run = store.begin_run(&new).unwrap();
    for n in [4, 2, 0, 3, 1] {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    let stored = store.run(run).unwrap().unwrap();
    assert_eq!((stored.subjects.clone(), stored.budget, stored.planned), (vec!["zed".to_owned(), "alf".into(), "mid".into()], Some(3), 5));
    assert_eq!(store.subjects_of_run(&stored).unwrap(), stored.subjects);
    assert_eq!(store.cases_of_run(run).unwrap(), ["B", "a", "b", "é"], "sorted by bytes");
    let found = store.find_trials(run, "b", None, 1).unwrap();
    assert_eq!((found.first.len(), found.first[0].n, found.count), (1, 0, 2));
    assert_eq!(store.record(&stored).unwrap().transcripts.len(), 5);
}

pub(super) fn costs_of_trials_are_listed(place: &TestPlace) {
    let store = place.open();
    let record = example("a", 4);
    let run = begin(&store, "first", &outline("a", 4));
    let mut ids: Vec<ContentHash> = record.plan.trials.iter().map(|trial| trial.id.clone()).collect();
    ids.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    for (n, trial) in ids.iter().enumerate() {
        let key = CallKey { trial: trial.clone(), ..call(run, 0) };
        store.reserve_call(&key, 100).unwrap();
        store.settle_call(&key, n as u64 * 10, None, "{}").unwrap();
    }
    assert_eq!(store.trial_costs(run, 9).unwrap(), [10, 20, 30]);
    assert_eq!(store.trial_costs(run, 2).unwrap(), [10, 20]);
}
