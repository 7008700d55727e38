//! Comparisons of simulated and handwritten readings.

#![expect(clippy::print_stdout, reason = "prints the figures of the documentation")]

use super::*;
use crate::causes::{FailureCause, ToolConfusion};
use crate::example::ExampleWorkspace;
use model::{CaseOutcome, ContentHash, Reading, Score, ScoreReason, SeededRng, SuiteKind, Workspace};

/// Workspace with `cases` questions and a gate on their hits.
fn workspace_of(cases: usize, bound: &str) -> Workspace {
    let gate = format!(
        "{{ id: hits, spec: ours, scorer: hit, slice: pooled, tiers: [2], min_cases: 1, aggregate: rate, at_least: {bound}, why: test }}"
    );
    ExampleWorkspace::questions(cases, &gate)
}

fn hit_score(is_hit: bool) -> Vec<Score> {
    let because = if is_hit { vec![] } else { vec![ScoreReason { event: None, what: "called a; expected b".to_owned() }] };
    vec![Score::new("hit", Reading::from_bool(is_hit), because)]
}

/// Returns a side whose cases pass as `is_hit` says, by number and trial.
fn side(workspace: &Workspace, trials: u64, mut is_hit: impl FnMut(usize, u64) -> bool) -> RunSide<'_> {
    let mut side = RunSide::new(workspace);
    for (n, case) in
        workspace.suites.iter().filter(|suite| suite.name.contains("tool_selection")).flat_map(|suite| &suite.cases).enumerate()
    {
        for trial in 0..trials {
            let hit = is_hit(n, trial);
            let outcome = if hit { CaseOutcome::Passed } else { CaseOutcome::Failed };
            let id = ContentHash::of_text(&format!("{n} {trial}"));
            side.add(&SideTrial { trial: &id, case, hash: Some(&case.hash), scores: &hit_score(hit), outcome });
        }
    }
    side
}

fn noisy_side<'w>(workspace: &'w Workspace, seed: u64, percent: u64) -> RunSide<'w> {
    let mut rng = SeededRng::new(seed);
    side(workspace, 1, |_, _| rng.percent(percent))
}

#[test]
fn results_of_cases_that_no_workspace_has_are_counted() {
    let workspace = workspace_of(1, "0.85");
    let mut side = RunSide::new(&workspace);
    for passed in [Some(true), Some(false), Some(true), None] {
        side.add_plain("a", passed);
    }
    side.add_plain("b", None);
    side.add_result("c", None, false, None);
    let counts: Vec<(&str, u64, u64, u64)> =
        side.cases().iter().map(|(id, case)| (id.as_str(), case.passed, case.judged, case.aborted)).collect();
    assert_eq!(counts, [("a", 2, 3, 1), ("b", 0, 0, 1), ("c", 0, 1, 0)]);
}

#[test]
fn equal_noisy_subjects_are_tied() {
    let workspace = workspace_of(200, "0.85");
    let compare =
        |seed: u64| compare_sides(&noisy_side(&workspace, seed, 80), &noisy_side(&workspace, seed + 10_000, 80), RunNoise::Sampled);
    let all: Vec<RunComparison> = (0..200).map(compare).collect();
    let tied = all.iter().filter(|one| one.cases.verdict == ChangeVerdict::Tied && one.slices[0].verdict == ChangeVerdict::Tied).count();
    println!("{tied} of 200 pairs of equal noisy subjects are tied");
    assert!(tied >= 190, "{tied} of 200");
    assert!(all.iter().all(|one| one.cases.verdict != ChangeVerdict::NotEnoughData));
}

#[test]
fn drop_of_a_noisy_subject_is_a_regression() {
    let workspace = workspace_of(200, "0.85");
    let compare = |seed: u64, before, after| {
        compare_sides(&noisy_side(&workspace, seed, before), &noisy_side(&workspace, seed + 10_000, after), RunNoise::Sampled)
    };
    let verdict = |before, after, verdict| {
        let all = (0..200).map(|seed| compare(seed, before, after));
        all.filter(|one| one.cases.verdict == verdict && one.slices[0].verdict == verdict).count()
    };
    let (worse, better) = (verdict(80, 60, ChangeVerdict::Regression), verdict(60, 80, ChangeVerdict::Improvement));
    println!("{worse} of 200 drops and {better} of 200 rises are found");
    assert!(worse >= 190 && better >= 190, "{worse} {better}");
}

#[test]
fn few_cases_are_not_enough_data() {
    let workspace = workspace_of(20, "0.85");
    let clean = side(&workspace, 1, |_, _| true);
    let compared = compare_sides(&clean, &side(&workspace, 1, |n, _| n != 3), RunNoise::Sampled);
    assert_eq!(compared.cases.verdict, ChangeVerdict::NotEnoughData);
    assert!(compared.cases.counts.cases_needed() > 20, "{:?}", compared.cases.counts);
    // Without noise, one changed case is a change.
    let compared = compare_sides(&clean, &side(&workspace, 1, |n, _| n != 3), RunNoise::None);
    assert_eq!((compared.cases.verdict, compared.slices[0].verdict), (ChangeVerdict::Regression, ChangeVerdict::Regression));
    assert_eq!(compare_sides(&clean, &side(&workspace, 1, |_, _| true), RunNoise::None).cases.verdict, ChangeVerdict::Tied);
    let nothing = RunSide::new(&workspace);
    assert_eq!(compare_sides(&clean, &nothing, RunNoise::None).cases.verdict, ChangeVerdict::NotEnoughData);
}

#[test]
fn first_miss_of_a_zero_tolerance_gate_is_a_regression() {
    let workspace = workspace_of(40, "1.0");
    let clean = side(&workspace, 1, |_, _| true);
    let missed = side(&workspace, 1, |n, _| n != 0);
    let compared = compare_sides(&clean, &missed, RunNoise::Sampled);
    assert_eq!((compared.cases.verdict, compared.slices[0].verdict), (ChangeVerdict::Tied, ChangeVerdict::Regression));
    assert_eq!(compare_sides(&missed, &clean, RunNoise::Sampled).slices[0].verdict, ChangeVerdict::Tied);
}

/// A gate of a scorer that does not decide the case, as that of a program of the workspace.
#[test]
fn gate_that_falls_under_its_bound_got_worse_in_few_cases() {
    let workspace = workspace_of(4, "0.85");
    let with_reading = |reading: &dyn Fn(usize) -> Reading| {
        let mut side = RunSide::new(&workspace);
        let suites = workspace.suites.iter().filter(|suite| suite.name.contains("tool_selection"));
        for (n, case) in suites.flat_map(|suite| &suite.cases).enumerate() {
            let (id, scores) = (ContentHash::of_text(&n.to_string()), vec![Score::new("hit", reading(n), vec![])]);
            side.add(&SideTrial { trial: &id, case, hash: Some(&case.hash), scores: &scores, outcome: CaseOutcome::Passed });
        }
        side
    };
    let met = with_reading(&|_| Reading::from_bool(true));
    let compare = |after: &RunSide<'_>| compare_sides(&met, after, RunNoise::Sampled);
    let missed = compare(&with_reading(&|n| Reading::from_bool(n != 1)));
    assert_eq!((missed.cases.counts.worse, missed.slices[0].counts.worse), (0, 1), "every case passes");
    assert_eq!((missed.slices[0].verdict, missed.slices[0].is_newly_missed), (ChangeVerdict::NotEnoughData, true));
    let worse: Vec<(&str, f64, f64)> = missed.slices[0].worse.iter().map(|one| (one.case.as_str(), one.before, one.after)).collect();
    assert_eq!(worse, [("c1", 1.0, 0.0)], "no flipped case names it");
    assert!(missed.flips.is_empty());
    assert!(missed.got_worse());
    let silent = compare(&with_reading(&|_| Reading::not_exercised()));
    assert_eq!((silent.slices[0].before, silent.slices[0].after, silent.slices[0].is_newly_missed), (Some(1.0), None, true));
    assert!(silent.got_worse() && silent.lost_evidence(), "a gate that is measured no more");
    assert_eq!(silent.slices[0].verdict, ChangeVerdict::NotEnoughData);
    assert!(!missed.lost_evidence() && !compare(&met).lost_evidence());
    assert!(!compare(&met).got_worse());
    // Readings may be in cases that were not selected, which is no first miss, and the gate was met only if it was on all of its cases.
    let strict = workspace_of(4, "1.0");
    let of = |workspace: &Workspace, cases: usize, reading: &dyn Fn(usize) -> Reading| {
        let suites = workspace.suites.iter().filter(|suite| suite.name.contains("tool_selection"));
        let mut side = RunSide::new(workspace);
        for (n, case) in suites.flat_map(|suite| &suite.cases).take(cases).enumerate() {
            let (id, scores) = (ContentHash::of_text(&n.to_string()), vec![Score::new("hit", reading(n), vec![])]);
            side.add(&SideTrial { trial: &id, case, hash: Some(&case.hash), scores: &scores, outcome: CaseOutcome::Passed });
        }
        side.readings()
    };
    for (last_hits, is_newly_missed) in [(true, true), (false, false)] {
        let before = of(&strict, 4, &|n| Reading::from_bool(n < 3 || last_hits));
        let few = of(&strict, 2, &|_| Reading::not_exercised());
        let compared = compare_readings(&strict.gates, &before, &few, RunNoise::None);
        let slice = &compared.slices[0];
        assert_eq!((slice.verdict, slice.is_newly_missed, slice.is_unselected), (ChangeVerdict::NotEnoughData, is_newly_missed, true));
        assert_eq!(compared.lost_evidence(), is_newly_missed);
        let all = compare_readings(&strict.gates, &before, &of(&strict, 4, &|_| Reading::not_exercised()), RunNoise::None);
        assert_eq!(all.slices.first().map(|slice| slice.verdict), last_hits.then_some(ChangeVerdict::Regression));
    }
    // Cases that were not run again are no loss of evidence.
    let other = RunSide::new(&workspace);
    assert!(compare(&other).slices.is_empty() && !compare(&other).got_worse());
}

#[test]
fn lost_evidence_of_a_zero_tolerance_gate_is_a_regression() {
    let workspace = workspace_of(40, "1.0");
    let clean = side(&workspace, 1, |_, _| true);
    let mut silent = RunSide::new(&workspace);
    for (n, case) in workspace.cases().filter(|case| case.kind == SuiteKind::ToolSelection).enumerate() {
        let (id, scores) = (ContentHash::of_text(&n.to_string()), vec![Score::new("hit", Reading::not_exercised(), vec![])]);
        silent.add(&SideTrial { trial: &id, case, hash: Some(&case.hash), scores: &scores, outcome: CaseOutcome::Passed });
    }
    for noise in [RunNoise::None, RunNoise::Sampled] {
        let compared = compare_sides(&clean, &silent, noise);
        assert_eq!((compared.cases.verdict, compared.slices[0].verdict), (ChangeVerdict::Tied, ChangeVerdict::Regression));
        assert!(compared.lost_evidence());
    }
}

#[test]
fn repeated_trials_are_paired_by_case() {
    let workspace = workspace_of(30, "0.85");
    // Eight trials of each case do not make eight pairs.
    let compared =
        compare_sides(&side(&workspace, 8, |_, trial| trial < 6), &side(&workspace, 8, |n, trial| n > 4 && trial < 6), RunNoise::Sampled);
    assert_eq!(compared.cases.counts, PairCounts { better: 0, worse: 5, same: 25 });
    assert_eq!((compared.slices[0].before, compared.slices[0].after), (Some(0.75), Some(0.625)));
    assert_eq!(compared.cases.p_value, 0.0625);
}

#[test]
fn flips_are_grouped_by_cause() {
    let workspace = workspace_of(12, "0.85");
    let compared = compare_sides(&side(&workspace, 1, |n, _| n != 0), &side(&workspace, 1, |n, _| n > 3 || n == 0), RunNoise::None);
    let [worse, better] = compared.flips.as_slice() else { panic!("{:#?}", compared.flips) };
    let confusion = Some(FailureCause::Tool(ToolConfusion { called: "a".into(), expected: "b".into() }));
    assert_eq!((worse.direction, worse.cases.len(), &worse.cause), (FlipDirection::Worse, 3, &confusion));
    assert_eq!((better.direction, better.cases[0].case.as_str(), &better.cause), (FlipDirection::Better, "c0", &confusion));
    assert!(worse.cases.iter().all(|case| case.trials.iter().all(Option::is_some)));
}

#[test]
fn changed_and_missing_cases_are_not_paired() {
    let workspace = workspace_of(6, "0.85");
    let before = side(&workspace, 1, |_, _| true);
    let mut after = RunSide::new(&workspace);
    let other = ContentHash::of_text("another case");
    let cases: Vec<_> = workspace.cases().filter(|case| case.kind == SuiteKind::ToolSelection).collect();
    for (n, case) in cases.iter().take(3).enumerate() {
        let (hash, outcome) = match n {
            0 => (&other, CaseOutcome::Failed),
            1 => (&case.hash, CaseOutcome::Unjudged),
            _ => (&case.hash, CaseOutcome::Passed),
        };
        after.add(&SideTrial { trial: &other, case, hash: Some(hash), scores: &hit_score(n != 0), outcome });
    }
    let compared = compare_sides(&before, &after, RunNoise::None);
    assert_eq!((compared.changed_cases.as_slice(), compared.without_result.as_slice()), (&["c0".to_owned()][..], &["c1".to_owned()][..]));
    assert_eq!((compared.only_before, compared.only_after, compared.cases.counts.paired()), (3, 0, 1));
    assert_eq!(compared.slices[0].counts.paired(), 2, "the changed case is left out");
}

#[test]
fn kept_sides_compare_like_fresh_ones() {
    let workspace = workspace_of(40, "0.85");
    let (before, after) = (noisy_side(&workspace, 1, 80), noisy_side(&workspace, 2, 60));
    let keep = |side: &RunSide<'_>| serde_json::from_str::<SideReadings>(&serde_json::to_string(&side.readings()).unwrap()).unwrap();
    assert_eq!(keep(&before), before.readings());
    let kept = compare_readings(&workspace.gates, &keep(&before), &keep(&after), RunNoise::Sampled);
    assert_eq!(kept, compare_sides(&before, &after, RunNoise::Sampled));
    assert!(!kept.slices.is_empty() && !kept.flips.is_empty());
}
