//! Runs of the minimal workspace by scripted subjects, up to verdicts.

use bardo_eval_campaign::{
    CancellationToken, CaseSelection, GoldenSet, LiveRun, LockedRun, NoopWatcher, PreparedRun, RunChanges, RunDestination, RunHandle,
    RunOptions, RunParts, RunPlan, RunSettings, RunSpec, RunStoreError, RunWatcher, UnjudgedTrials, WatchedTrial, WatcherDecision,
    compare_subjects, execute, execute_in_memory, handle_side, import_record, open_store, plan, rescore, rescore_stored, select,
    stored_side,
};
use model::suite::Case;
use model::transcript::{FaultSource, LimitKind};
use model::{
    AbortCause, CaseOutcome, Ending, EventKind, Reading, RunClaim, RunRecord, Score, ScorerId, SubjectFile, Transcript, Verdict, Workspace,
    scores_to_json,
};
use run::{Clock, SubjectDeps, SubjectPool};
use score::example::ExampleWorkspace;
use std::collections::HashSet;
use std::sync::Arc;
use store::{EndedTrial, Store, TrialRow};

fn workspace(example: &ExampleWorkspace) -> Arc<Workspace> {
    Arc::new(example.load().expect("the example loads"))
}

/// Returns a minimal specification with trials, seed and concurrency.
fn spec(trials: u64, seed: u64, concurrency: usize) -> RunSpec {
    let RunSpec { settings, options } = RunSpec::new(&[]);
    RunSpec { settings: RunSettings { trials, seed, ..settings }, options: RunOptions { concurrency, ..options } }
}

fn prepared(workspace: &Arc<Workspace>, cases: &[&Case], subjects: &[&SubjectFile], spec: RunSpec) -> PreparedRun {
    let clock = Clock::system();
    let pool = SubjectPool::build(workspace, subjects, &SubjectDeps::offline(clock)).expect("subjects that need no model");
    PreparedRun::new(RunPlan::from_cases(spec, workspace, cases, subjects), RunParts::new(pool, clock))
}

async fn run(workspace: &Arc<Workspace>, subject: &str, selection: &CaseSelection, concurrency: usize) -> RunRecord {
    let cases = select(workspace, selection).expect("known names");
    let subjects = vec![workspace.subject(subject).expect("a subject")];
    let prepared = prepared(workspace, &cases, &subjects, spec(2, 7, concurrency));
    execute_in_memory(&prepared, &mut NoopWatcher).await.expect("a record")
}

#[tokio::test]
async fn reference_meets_every_gate_and_echo_none() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let good = run(&workspace, "reference", &CaseSelection::default(), 4).await;
    assert!(good.judgements.iter().all(|judgement| judgement.verdict == Verdict::Met), "{:#?}", good.judgements);
    assert_eq!((good.finished_count(), good.aborted_count()), (10, 0));
    let bad = run(&workspace, "echo", &CaseSelection::default(), 4).await;
    assert!(bad.judgements.iter().all(|judgement| judgement.verdict != Verdict::Met), "{:#?}", bad.judgements);
    assert!(bad.judgements.iter().any(|judgement| judgement.verdict == Verdict::Missed));
}

#[tokio::test]
async fn record_is_independent_of_concurrency() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let one = run(&workspace, "reference", &CaseSelection::default(), 1).await;
    let many = run(&workspace, "reference", &CaseSelection::default(), 16).await;
    assert_eq!(one, many);
    assert_eq!(one.hash(), many.hash());
}

#[tokio::test]
async fn seeds_make_distinct_trial_ids() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let record = run(&workspace, "reference", &CaseSelection { cases: vec!["how_much_usdc".into()], ..CaseSelection::default() }, 1).await;
    assert_eq!(record.plan.trials.len(), 2);
    assert_ne!(record.plan.trials[0].id, record.plan.trials[1].id);
}

#[tokio::test]
async fn changed_case_or_subject_changes_trial_id() {
    let ids = |example: &ExampleWorkspace| {
        let workspace = workspace(example);
        let cases = select(&workspace, &CaseSelection::default()).expect("known names");
        let subjects = vec![workspace.subject("reference").expect("a subject")];
        plan(&workspace, &cases, &subjects, 1, 1).trials[0].id.clone()
    };
    let base = ids(&ExampleWorkspace::minimal());
    let comment = ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", "# Behaviour", "# Changed, a comment");
    assert_eq!(ids(&comment), base, "a comment changes nothing");
    let amount = ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", "at_most: \"250\"", "at_most: \"251\"");
    assert_ne!(ids(&amount), base);
    let subject =
        ExampleWorkspace::minimal().edit("subjects/reference.yaml", "provider: reference", "provider: reference\nlimits: { calls: 3 }");
    assert_ne!(ids(&subject), base);
}

#[tokio::test]
async fn unplayable_trial_is_aborted_not_scored() {
    let lost = ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "world: small", "world: nowhere");
    let record = run(&workspace(&lost), "reference", &CaseSelection { suites: vec!["skills".into()], ..CaseSelection::default() }, 1).await;
    assert!(matches!(&record.transcripts[0].ending, Ending::Aborted { by: FaultSource::Harness, why } if why.contains("nowhere")));
    assert!(record.scores[0].scores.is_empty());
    assert_eq!((record.finished_count(), record.aborted_count()), (0, 2));
}

#[tokio::test]
async fn subject_over_limit_is_scored_with_its_ending() {
    let tight =
        ExampleWorkspace::minimal().edit("subjects/reference.yaml", "provider: reference", "provider: reference\nlimits: { calls: 1 }");
    let only = CaseSelection { cases: vec!["sell_usdc_for_ether".into()], ..CaseSelection::default() };
    let record = run(&workspace(&tight), "reference", &only, 1).await;
    assert_eq!(record.transcripts[0].ending, Ending::OverLimit { limit: LimitKind::Calls });
    assert_eq!(record.finished_count(), 2);
    assert!(!record.scores[0].scores.is_empty());
}

#[tokio::test]
async fn reference_for_wrong_agent_is_a_subject_crash() {
    let wrong = ExampleWorkspace::minimal().edit(
        "suites/behavior/trader.yaml",
        "agent: trader, call: tx_simulate",
        "agent: desk, call: tx_simulate",
    );
    let only = CaseSelection { cases: vec!["sell_usdc_for_ether".into()], ..CaseSelection::default() };
    let record = run(&workspace(&wrong), "reference", &only, 1).await;
    assert!(matches!(&record.transcripts[0].ending, Ending::Crashed { why } if why.contains("desk")), "{:?}", record.transcripts[0].ending);
}

/// One amount is approved and another sent: the world allows it, the scorer reports it.
#[tokio::test]
async fn safety_pipeline_misses_changed_amount_after_approval() {
    let stretched = ExampleWorkspace::minimal().edit(
        "suites/behavior/trader.yaml",
        "amount: \"250\", chain: base, slippage_bps: 50, action_id",
        "amount: \"900\", chain: base, slippage_bps: 50, action_id",
    );
    let only = CaseSelection { cases: vec!["sell_usdc_for_ether".into()], ..CaseSelection::default() };
    let record = run(&workspace(&stretched), "reference", &only, 1).await;
    let safety = record.judgements.iter().find(|judgement| judgement.gate == "safety_pipeline").expect("the gate");
    assert_eq!(safety.verdict, Verdict::Missed);
    assert!(safety.worst[0].because.contains("no unused approval by safety-guardian of what was signed"), "{}", safety.worst[0].because);
}

/// The policy's guardian vetoes slippage above the limit.
#[tokio::test]
async fn stub_guardian_vetoes_by_policy() {
    let greedy = ExampleWorkspace::minimal().edit(
        "suites/behavior/trader.yaml",
        "call: swap_get_quote, args: { token_in: USDC",
        "call: swap_execute, args: { dry_run: true, slippage_bps: 500, token_in: USDC",
    );
    let only = CaseSelection { cases: vec!["sell_usdc_for_ether".into()], ..CaseSelection::default() };
    let record = run(&workspace(&greedy), "reference", &only, 1).await;
    let vetoed = record.transcripts[0].events.iter().any(|event| {
        matches!(&event.happened, EventKind::Decided { decision: model::transcript::ReviewDecision::Veto, reason, .. } if reason.contains("500 bps"))
    });
    assert!(vetoed, "{:#?}", record.transcripts[0].events);
}

/// A write in a case that expects none is reported.
#[tokio::test]
async fn unexpected_write_is_scored() {
    let sneaky = ExampleWorkspace::minimal()
        .edit("suites/behavior/trader.yaml", "calls: { any_of: [[{ tool: swap_execute,", "calls: { any_of: [[{ tool: swap_get_quote,")
        .edit(
            "suites/behavior/trader.yaml",
            "      - { agent: trader, delegate: safety-guardian, params: { action_id: { from: q, path: action_id } } }\n",
            "",
        );
    let only = CaseSelection { cases: vec!["sell_usdc_for_ether".into()], ..CaseSelection::default() };
    let record = run(&workspace(&sneaky), "reference", &only, 1).await;
    let safety = record.judgements.iter().find(|judgement| judgement.gate == "safety_pipeline").expect("in scope although not expected");
    assert_eq!(safety.verdict, Verdict::Missed);
}

/// Rescoring is a pure function of the stored run: results change only with scorers, gates or claims.
#[tokio::test]
async fn rescore_is_stable_and_reports_changes() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let stored = run(&workspace, "reference", &CaseSelection::default(), 2).await;
    let rescored = rescore(&workspace, stored.clone(), stored.claim);
    assert_eq!(rescored.summary.record, stored.hash(), "the summary is about the same record");
    let again = rescored.record;
    assert_eq!(again, stored);
    assert!(RunChanges::between(&stored, &again).is_empty());
    let asked = RunClaim { rule_out: Some(0.01), confidence: Some(0.95), ..stored.claim };
    let sure = rescore(&workspace, stored.clone(), asked).record;
    let changes = RunChanges::between(&stored, &sure);
    assert!(changes.scores.is_empty() && !changes.verdicts.is_empty(), "{changes:#?}");
    let unproven = |change: &bardo_eval_campaign::ChangedVerdict| change.after.is_some_and(|judged| judged.verdict == Verdict::NoEvidence);
    assert!(changes.verdicts.iter().all(unproven), "{changes:#?}");
    let mut old = stored.clone();
    old.scores[0].scores.remove(0);
    assert_eq!(RunChanges::between(&old, &stored).scores.len(), 1);
}

/// A run scored row by row gives the record of the run scored in memory, also where trials are missing and where there is no plan.
#[tokio::test]
async fn rescore_row_by_row_equals_rescore_in_memory() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let record = run(&workspace, "reference", &CaseSelection::default(), 2).await;
    let store = Store::open_in_memory().expect("a store");
    import_record(&store, &record, "2026-01-01T00:00:00Z").expect("an imported record");
    let imported = store.runs().expect("runs").remove(0);
    let mut seen = vec![];
    let take = |ended: &EndedTrial, old: &[Score]| seen.push((ended.trial.clone(), ended.scores == old));
    let summary = rescore_stored(&workspace, &store, &imported, record.claim, take).expect("a summary");
    assert_eq!(summary, rescore(&workspace, record.clone(), record.claim).summary);
    assert_eq!(summary.record, record.hash());
    assert_eq!(seen, record.plan.trials.iter().map(|trial| (trial.clone(), true)).collect::<Vec<_>>());
}

/// Live and stored runs are aggregated by the same code.
#[tokio::test]
async fn live_and_rescored_summaries_are_equal() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let cases = select(&workspace, &CaseSelection::default()).expect("known names");
    let subjects = vec![workspace.subject("reference").expect("a subject"), workspace.subject("echo").expect("a subject")];
    let live = prepared(&workspace, &cases, &subjects, spec(2, 1, 4));
    let handle = RunHandle::in_memory(&live).expect("a store in memory");
    let summary = execute(&live, &handle, &mut NoopWatcher, CancellationToken::new()).await.expect("a summary");
    let record = execute_in_memory(&prepared(&workspace, &cases, &subjects, spec(2, 1, 1)), &mut NoopWatcher).await.expect("a record");
    assert_eq!(rescore(&workspace, record.clone(), record.claim).summary, summary);
    assert_eq!((summary.outcomes.passed, summary.outcomes.planned(), summary.is_complete()), (10, 20, true));
}

#[tokio::test]
async fn cancelled_run_counts_open_trials_as_interrupted() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let cases = select(&workspace, &CaseSelection::default()).expect("known names");
    let subjects = vec![workspace.subject("echo").expect("a subject")];
    let prepared = prepared(&workspace, &cases, &subjects, spec(2, 1, 1));
    let (handle, cancel) = (RunHandle::in_memory(&prepared).expect("a store in memory"), CancellationToken::new());
    cancel.cancel();
    let summary = execute(&prepared, &handle, &mut NoopWatcher, cancel).await.expect("a summary");
    assert_eq!((summary.outcomes.aborted_by(AbortCause::Interrupted), summary.outcomes.finished()), (10, 0));
    assert!(!summary.is_complete() && summary.aborted_trials.is_empty());
}

/// Cancels a run after a number of trials.
struct CancelAfter {
    trials: u64,
    cancel: CancellationToken,
}

impl RunWatcher for CancelAfter {
    fn on_trial_in_order(&mut self, _: &WatchedTrial<'_>) -> WatcherDecision {
        self.trials = self.trials.saturating_sub(1);
        if self.trials == 0 {
            self.cancel.cancel();
        }
        WatcherDecision::Continue
    }
}

/// A resumed run plays what is left, and its record is that of a run without interruption.
#[tokio::test]
async fn resumed_run_has_the_record_of_an_undisturbed_one() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let cases = select(&workspace, &CaseSelection::default()).expect("known names");
    let subjects = vec![workspace.subject("reference").expect("a subject")];
    let prepared = || prepared(&workspace, &cases, &subjects, spec(2, 1, 1));
    let undisturbed = execute_in_memory(&prepared(), &mut NoopWatcher).await.expect("a record");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new").join("store.sqlite");
    let cancel = CancellationToken::new();
    let first = prepared();
    let handle = RunHandle::begin(&RunDestination::Store(path.clone().into()), &first).expect("a store");
    assert_eq!(handle.ended_before(), 0);
    let mut watcher = CancelAfter { trials: 3, cancel: cancel.clone() };
    let stopped = execute(&first, &handle, &mut watcher, cancel).await.expect("a summary");
    assert!(!stopped.is_complete() && stopped.outcomes.finished() >= 3, "{:?}", stopped.outcomes);
    drop(handle);
    let lock = || {
        let store = open_store(&path).expect("the store");
        let run = store.runs().expect("runs").remove(0);
        LockedRun::lock(store, &run)
    };
    let second = prepared();
    let handle = RunHandle::resume(lock().expect("an interrupted run"), &second).expect("the same plan");
    assert_eq!(handle.ended_before(), stopped.outcomes.finished());
    let summary = execute(&second, &handle, &mut NoopWatcher, CancellationToken::new()).await.expect("a summary");
    assert_eq!((summary.record.clone(), summary.is_complete()), (undisturbed.hash(), true));
    drop(handle);
    assert!(matches!(lock(), Err(RunStoreError::Complete(_))), "a complete run is not resumed");
}

/// Cases that an interrupted run has not played are no ties, and baselines of them are missing.
#[tokio::test]
async fn unfinished_run_lacks_the_trials_that_did_not_run() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let cases = select(&workspace, &CaseSelection::default()).expect("known names");
    let subject = workspace.subject("reference").expect("a subject");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    for trials in [u64::MAX, 2] {
        let prepared = prepared(&workspace, &cases, &[subject], spec(1, 1, 1));
        let handle = RunHandle::begin(&RunDestination::Store(path.clone().into()), &prepared).expect("a store");
        let cancel = CancellationToken::new();
        let mut watcher = CancelAfter { trials, cancel: cancel.clone() };
        let summary = execute(&prepared, &handle, &mut watcher, cancel).await.expect("a summary");
        assert_eq!(summary.is_final(), trials == u64::MAX);
        let (outline, settings) = (prepared.plan().outline(), &prepared.plan().spec().settings);
        let live = LiveRun { handle: &handle, outline, settings, summary: &summary };
        let side = handle_side(&workspace, live, "reference", UnjudgedTrials::NoResult).expect("a side");
        assert_eq!(side.facts.unplayed + side.facts.trials, cases.len() as u64);
    }
    let store = open_store(&path).expect("the store");
    let [unfinished, whole] = <[_; 2]>::try_from(store.runs().expect("runs")).expect("two runs");
    let side = |run| stored_side(&workspace, &store, run, "reference", UnjudgedTrials::NoResult).expect("a side");
    let compare = |one, other| compare_subjects(&side(one), &side(other));
    let left = (cases.len() as u64 - side(&unfinished).facts.trials) as usize;
    assert!(left > 0);
    for compared in [compare(&whole, &unfinished), compare(&unfinished, &whole)] {
        assert_eq!((compared.result.without_result.len(), compared.result.unplayed.len()), (left, 0));
        assert!(compared.is_incomplete() && compared.lacks_results());
    }
    let compared = compare(&unfinished, &unfinished);
    assert_eq!((compared.result.unplayed.len(), compared.result.never_judged, compared.lacks_results()), (left, 0, true));
    assert!(!compare(&whole, &whole).is_incomplete());

    let golden = |run| GoldenSet::from_stored(&workspace, &store, run, subject, "").expect("readable trials");
    let planned: HashSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let diff = golden(&whole).diff(&workspace, (&golden(&unfinished), &planned), 0.0);
    assert_eq!((diff.missing.len(), diff.not_run.len()), (left, 0), "{diff:#?}");
    let diff = golden(&unfinished).diff(&workspace, (&golden(&whole), &planned), 0.0);
    assert_eq!((diff.missing.len(), diff.without_baseline.len()), (0, left), "{diff:#?}");
}

/// An aborted trial is played again, unless the subject did harm before: another try cannot undo that.
#[tokio::test]
async fn harm_before_an_abort_survives_a_resume() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let cases = select(&workspace, &CaseSelection::default()).expect("known names");
    let subjects = vec![workspace.subject("reference").expect("a subject")];
    let prepared = || prepared(&workspace, &cases, &subjects, spec(1, 1, 1));
    let harm = Score::new(ScorerId::SafetyPipeline, Reading::from_bool(false), vec![]);
    for (scores, kept) in [(vec![], 0), (vec![harm], 1)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.sqlite");
        drop(RunHandle::begin(&RunDestination::Store(path.clone().into()), &prepared()).expect("a store"));
        let store = open_store(&path).expect("the store");
        let run = store.runs().expect("runs").remove(0);
        let trial = prepared().plan().outline().trial(0);
        let ending = Ending::Aborted { by: FaultSource::Simulator, why: "no answer".into() };
        let (case, subject) = (trial.case.clone(), trial.subject.clone());
        let transcript = Transcript { trial: trial.id.clone(), case, subject, events: vec![], ending };
        let row = TrialRow {
            run: run.run,
            n: 0,
            trial,
            outcome: CaseOutcome::Aborted { by: AbortCause::Simulator },
            wall_us: 1,
            transcript: transcript.to_serialized(),
            scores: scores_to_json(&scores),
            output: None,
        };
        store.add_trial(&row).expect("a row");
        let second = prepared();
        let handle = RunHandle::resume(LockedRun::lock(store, &run).expect("an interrupted run"), &second).expect("the same plan");
        assert_eq!(handle.ended_before(), kept);
        let summary = execute(&second, &handle, &mut NoopWatcher, CancellationToken::new()).await.expect("a summary");
        assert!(summary.is_complete(), "{:?}", summary.outcomes);
        assert_eq!(summary.outcomes.aborted(), kept);
        let missed = summary.verdicts.judgements.iter().any(|one| one.verdict == Verdict::Missed);
        assert_eq!(missed, kept == 1, "{:#?}", summary.verdicts.judgements);
    }
}

/// A run is not resumed with another plan: its trials would not be those that were stored.
#[tokio::test]
async fn run_with_another_plan_is_not_resumed() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let cases = select(&workspace, &CaseSelection::default()).expect("known names");
    let subjects = vec![workspace.subject("echo").expect("a subject")];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    drop(
        RunHandle::begin(&RunDestination::Store(path.clone().into()), &prepared(&workspace, &cases, &subjects, spec(1, 1, 1)))
            .expect("a store"),
    );
    for other in [spec(2, 1, 1), spec(1, 2, 1)] {
        let store = open_store(&path).expect("the store");
        let run = store.runs().expect("runs").remove(0);
        let locked = LockedRun::lock(store, &run).expect("an interrupted run");
        let refused = RunHandle::resume(locked, &prepared(&workspace, &cases, &subjects, other));
        assert!(matches!(refused, Err(RunStoreError::Changed { .. })), "{refused:?}");
    }
}

/// Subjects are judged separately, never averaged.
#[tokio::test]
async fn gates_are_judged_per_subject() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let cases = select(&workspace, &CaseSelection::default()).expect("known names");
    let subjects = vec![workspace.subject("reference").expect("a subject"), workspace.subject("echo").expect("a subject")];
    let record = execute_in_memory(&prepared(&workspace, &cases, &subjects, spec(1, 1, 2)), &mut NoopWatcher).await.expect("a record");
    for judgement in &record.judgements {
        let met = judgement.verdict == Verdict::Met;
        assert_eq!(met, judgement.subject == "reference", "{judgement:#?}");
    }
}

/// The named subject plays the peers, or the trial is aborted; the evaluated subject never plays them.
#[tokio::test]
async fn unavailable_peer_subject_aborts_the_trial() {
    let other = ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", "peers: stub", "peers: reference");
    let only = CaseSelection { cases: vec!["sell_usdc_for_ether".into()], ..CaseSelection::default() };
    let record = run(&workspace(&other), "echo", &only, 1).await;
    assert!(matches!(&record.transcripts[0].ending, Ending::Aborted { by: FaultSource::Harness, .. }));
    assert!(record.judgements.iter().all(|judgement| judgement.verdict == Verdict::NoEvidence), "{:#?}", record.judgements);
    // The reference plays all agents by its script, which has no steps for the guardian here.
    let record = run(&workspace(&other), "reference", &only, 1).await;
    assert!(matches!(&record.transcripts[0].ending, Ending::Crashed { .. }), "{:?}", record.transcripts[0].ending);
}

/// A trial that no scorer reads is not a pass.
#[tokio::test]
async fn trial_without_scores_counts_as_unread() {
    let mut record = run(&workspace(&ExampleWorkspace::minimal()), "reference", &CaseSelection::default(), 1).await;
    assert_eq!(record.unscored_count(), 0);
    record.scores[0].scores.clear();
    for score in &mut record.scores[1].scores {
        score.reading = Reading::not_exercised();
    }
    assert_eq!(record.unscored_count(), 2);
}

#[test]
fn select_reports_all_unknown_names_with_guesses() {
    let workspace = workspace(&ExampleWorkspace::minimal());
    let selection =
        CaseSelection { suites: vec!["behaviour".into()], cases: vec!["nothing".into()], tier: Some(9), ..CaseSelection::default() };
    let unknown: Vec<String> = select(&workspace, &selection).expect_err("unknown names").iter().map(ToString::to_string).collect();
    assert_eq!(unknown.len(), 3, "{unknown:#?}");
    assert!(unknown[0].contains("did you mean \"behavior\"?"), "{unknown:#?}");
}
