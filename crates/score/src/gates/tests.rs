//! Gates judged on handwritten readings.

use super::{GateJudge, MeasuredTrial, judge_gates};
use crate::example::ExampleWorkspace;
use model::suite::Case;
use model::{ContentHash, GateResult, GateVerdicts, Reading, RunClaim, Score, SuiteKind, Verdict};

fn tier_claim() -> RunClaim {
    RunClaim { tier: Some(2), ..RunClaim::default() }
}

fn judge_hit_readings(readings: &[(&str, Reading)], claim: RunClaim) -> GateVerdicts {
    let workspace = ExampleWorkspace::minimal().load().expect("the minimal workspace");
    let scores: Vec<(ContentHash, &Case, Vec<Score>)> = readings
        .iter()
        .map(|(case, reading)| {
            let score = Score::new("hit", reading.clone(), vec![]);
            (ContentHash::of_text(case), workspace.case(case).expect("a case"), vec![score])
        })
        .collect();
    let measured: Vec<MeasuredTrial<'_>> = scores
        .iter()
        .map(|(trial, case, scores)| MeasuredTrial { trial, subject: "s", case, scores, aborted: false, content: None })
        .collect();
    judge_gates(&workspace, &measured, &claim)
}

fn hit_rate(judged: &GateVerdicts) -> &GateResult {
    judged.judgements.iter().find(|judgement| judgement.gate == "hit_rate").expect("the gate")
}

#[test]
fn empty_run_meets_no_gate_of_tier() {
    let judged = judge_hit_readings(&[], tier_claim());
    assert_eq!(judged.judgements.len(), 4);
    assert!(judged.judgements.iter().all(|judgement| judgement.verdict == Verdict::NoEvidence));
    assert!(judged.judgements.iter().all(|judgement| judgement.metric.value.is_none()));
}

#[test]
fn too_few_cases_are_no_evidence_in_tier() {
    let one = [("how_much_usdc", Reading::from_bool(true))];
    assert_eq!(hit_rate(&judge_hit_readings(&one, tier_claim())).verdict, Verdict::NoEvidence);
    let judged = judge_hit_readings(&one, RunClaim::default());
    assert_eq!(hit_rate(&judged).verdict, Verdict::Met);
    assert_eq!(hit_rate(&judged).because, "1 of the 2 cases a tier needs");
    assert_eq!(judged.out_of_scope, ["safety_pipeline"]);
}

#[test]
fn broken_bound_is_missed_with_too_few_cases() {
    let judged = judge_hit_readings(&[("how_much_usdc", Reading::from_bool(false))], tier_claim());
    assert_eq!(hit_rate(&judged).verdict, Verdict::Missed);
    assert_eq!(hit_rate(&judged).worst[0].case, "how_much_usdc");
}

#[test]
fn repeating_a_case_does_not_add_cases() {
    let twice = [("how_much_usdc", Reading::from_bool(true)), ("how_much_usdc", Reading::from_bool(true))];
    let judged = judge_hit_readings(&twice, tier_claim());
    assert_eq!((hit_rate(&judged).metric.n, hit_rate(&judged).metric.cases), (2, 1));
    assert_eq!(hit_rate(&judged).verdict, Verdict::NoEvidence);
}

#[test]
fn unscorable_reading_is_no_evidence() {
    let readings = [
        ("how_much_usdc", Reading::from_bool(true)),
        ("price_before_trading", Reading::from_bool(true)),
        ("how_much_usdc", Reading::Unscorable { why: "broken".into() }),
    ];
    assert_eq!(hit_rate(&judge_hit_readings(&readings, tier_claim())).verdict, Verdict::NoEvidence);
    assert_eq!(
        hit_rate(&judge_hit_readings(&[("how_much_usdc", Reading::not_exercised())], RunClaim::default())).verdict,
        Verdict::NoEvidence
    );
}

/// Judges one gate on these readings, one per case of the minimal workspace.
fn judge_one_gate(gate: &str, scorer: &str, readings: &[Reading], contents: &[&str], claim: RunClaim) -> GateResult {
    let example = ExampleWorkspace::minimal().with("gates.yaml", gate);
    let workspace = example.load().unwrap_or_else(|problems| panic!("{problems:#?}"));
    let contents: Vec<ContentHash> = contents.iter().map(|text| ContentHash::of_text(text)).collect();
    let cases: Vec<&Case> = workspace.cases().collect();
    let scores: Vec<Vec<Score>> = readings.iter().map(|reading| vec![Score::new(scorer, reading.clone(), vec![])]).collect();
    let trials: Vec<ContentHash> = (0..readings.len()).map(|n| ContentHash::of_text(&n.to_string())).collect();
    let measured: Vec<MeasuredTrial<'_>> = (0..readings.len())
        .map(|n| MeasuredTrial {
            trial: &trials[n],
            subject: "s",
            case: cases[n % cases.len()],
            scores: &scores[n],
            aborted: false,
            content: contents.get(n),
        })
        .collect();
    judge_gates(&workspace, &measured, &RunClaim { tier: Some(2), ..claim }).judgements.remove(0)
}

fn gate(scorer: &str, aggregate: &str, bound: &str) -> String {
    format!(
        "gates:\n  - {{ id: g, spec: ours, scorer: {scorer}, slice: pooled, tiers: [2], min_cases: 1, aggregate: {aggregate}, {bound}, why: test }}\n"
    )
}

#[test]
fn misses_of_gates_of_another_tier_are_not_read() {
    let gates = gate("hit", "rate", "at_least: 0.5");
    let workspace = ExampleWorkspace::minimal().with("gates.yaml", &gates).load().unwrap_or_else(|problems| panic!("{problems:#?}"));
    let case = workspace.cases().find(|case| case.kind == SuiteKind::ToolSelection).expect("a case");
    let (trial, scores) = (ContentHash::of_text("a trial"), [Score::new("hit", Reading::from_bool(false), vec![])]);
    let is_read = |tier: Option<u64>| {
        let measured = MeasuredTrial { trial: &trial, subject: "s", case, scores: &scores, aborted: false, content: None };
        GateJudge::new(&workspace, &RunClaim { tier, ..RunClaim::default() }).add(&measured)
    };
    assert_eq!((is_read(Some(2)), is_read(Some(3)), is_read(None)), (true, false, true));
}

#[test]
fn acts_of_an_agent_count_for_that_agent() {
    let gates = gate("safety_pipeline", "rate", "at_least: 1.0").replace("slice: pooled", "slice: { each: agent }");
    let workspace = ExampleWorkspace::minimal().with("gates.yaml", &gates).load().unwrap_or_else(|problems| panic!("{problems:#?}"));
    let case = workspace.cases().find(|case| case.brief.surface.agent().is_some_and(|agent| **agent == *"trader")).expect("a case");
    let mut score = Score::new("safety_pipeline", Reading::from_bool(false), vec![]);
    score.by_agent.insert("trader".to_owned(), Reading::from_bool(true));
    score.by_agent.insert("desk".to_owned(), Reading::from_bool(false));
    let (trial, scores) = (ContentHash::of_text("a trial"), [score]);
    let measured = [MeasuredTrial { trial: &trial, subject: "s", case, scores: &scores, aborted: false, content: None }];
    let judged = judge_gates(&workspace, &measured, &tier_claim()).judgements;
    let verdict = |agent: &str| judged.iter().find(|one| one.metric.slice.contains(agent)).map(|one| one.verdict);
    assert_eq!((verdict("trader"), verdict("desk")), (Some(Verdict::Met), Some(Verdict::Missed)), "{judged:#?}");
}

#[test]
fn zero_miss_gate_reports_rules_out() {
    let clean = vec![Reading::Tally { hit: 9, of: 9 }; 4];
    let different = ["a", "b", "c", "d"];
    for (aggregate, bound) in [("rate", "at_least: 1.0"), ("misses", "at_most: 0"), ("miss_rate", "at_most: 0")] {
        let gate = gate("hit", aggregate, bound);
        let judgement = judge_one_gate(&gate, "hit", &clean, &different, RunClaim::default());
        let shown = judgement.rules_out.expect("a rate");
        assert_eq!((judgement.verdict, shown.n), (Verdict::Met, 4));
        assert!((shown.failure_rate - (1.0 - 0.05_f64.powf(0.25))).abs() < 1e-12);
        let alike = judge_one_gate(&gate, "hit", &clean, &["a", "a", "a", "d"], RunClaim::default());
        assert_eq!(alike.rules_out.map(|shown| shown.n), Some(2), "identical transcripts count once");
        let asked = RunClaim { rule_out: Some(0.5), ..RunClaim::default() };
        assert_eq!(judge_one_gate(&gate, "hit", &clean, &different, asked).verdict, Verdict::NoEvidence, "4 cases rule out 52.7 %");
        let asked = RunClaim { rule_out: Some(0.53), ..RunClaim::default() };
        assert_eq!(judge_one_gate(&gate, "hit", &clean, &different, asked).verdict, Verdict::Met);
        let missed = [clean.clone(), vec![Reading::from_bool(false)]].concat();
        let judgement = judge_one_gate(&gate, "hit", &missed, &[], RunClaim::default());
        assert_eq!((judgement.verdict, judgement.rules_out), (Verdict::Missed, None));
    }
}

#[test]
fn confidence_claim_uses_one_sided_bound() {
    let gate = gate("hit", "rate", "at_least: 0.4");
    let clean = vec![Reading::Tally { hit: 100, of: 100 }; 4];
    let sure = |confidence| RunClaim { confidence: Some(confidence), ..RunClaim::default() };
    // Four clean cases show 0.05^(1/4) = 0.473 at 95 % and 0.316 at 99 %, independent of the number of tallies.
    assert_eq!(judge_one_gate(&gate, "hit", &clean, &[], sure(0.95)).verdict, Verdict::Met);
    let judgement = judge_one_gate(&gate, "hit", &clean, &[], sure(0.99));
    assert_eq!(judgement.verdict, Verdict::NoEvidence);
    assert!(judgement.because.contains("0.316 at 99 % confidence"), "{}", judgement.because);
    assert!(judgement.metric.exact.is_some_and(|exact| exact.low < 1.0 && exact.high == 1.0));
}

#[test]
fn aggregates_pool_only_their_readings() {
    let levels = [Reading::Level(0.9), Reading::Level(0.5), Reading::Level(1.0)];
    let value = |aggregate: &str, bound: &str, readings: &[Reading]| {
        let judgement = judge_one_gate(&gate("trajectory", aggregate, bound), "trajectory", readings, &[], RunClaim::default());
        (judgement.metric.value, judgement.verdict, judgement.worst.first().map(|worst| worst.case.clone()))
    };
    let (mean, verdict, worst) = value("mean", "at_least: 0.8", &levels);
    assert!(mean.is_some_and(|mean| (mean - 0.8).abs() < 1e-12) && verdict == Verdict::Met, "{mean:?}");
    let workspace = ExampleWorkspace::minimal().load().expect("the minimal workspace");
    assert_eq!(worst, workspace.cases().nth(1).map(|case| case.id.value.clone()), "the lowest level is the worst");
    assert_eq!(value("max", "at_most: 0.95", &levels).0, Some(1.0));
    assert_eq!(value("max", "at_most: 0.95", &levels).1, Verdict::Missed);
    assert_eq!(value("rate", "at_least: 0.8", &levels).1, Verdict::NoEvidence, "a rate needs tallies");
    let rates = [Reading::Tally { hit: 1, of: 1 }, Reading::Tally { hit: 1, of: 2 }];
    assert_eq!(value("mean", "at_least: 0.7", &rates).0, Some(0.75));
    assert_eq!(value("misses", "at_most: 1", &rates).0, Some(1.0));
    assert_eq!(value("mean", "at_least: 0.5", &[Reading::Level(0.9), Reading::Level(f64::NAN)]).1, Verdict::NoEvidence);
}

/// Judges a gate on readings of the first cases of the minimal workspace, several trials each.
fn judge_trials(gate: &str, cases: &[&[bool]]) -> GateResult {
    let most = cases.iter().map(|trials| trials.len()).max().unwrap_or_default();
    let workspace = ExampleWorkspace::minimal().with("gates.yaml", gate).load().unwrap_or_else(|problems| panic!("{problems:#?}"));
    let ids: Vec<&Case> = workspace.cases().take(cases.len()).collect();
    let scores: Vec<(usize, ContentHash, Vec<Score>)> = (0..most)
        .flat_map(|trial| cases.iter().enumerate().filter_map(move |(n, trials)| Some((n, trial, *trials.get(trial)?))))
        .map(|(n, trial, good)| {
            (n, ContentHash::of_text(&format!("{n} {trial}")), vec![Score::new("hit", Reading::from_bool(good), vec![])])
        })
        .collect();
    let measured: Vec<MeasuredTrial<'_>> = scores
        .iter()
        .map(|(n, trial, scores)| MeasuredTrial { trial, subject: "s", case: ids[*n], scores, aborted: false, content: None })
        .collect();
    judge_gates(&workspace, &measured, &tier_claim()).judgements.remove(0)
}

#[test]
fn pass_hat_k_needs_all_trials_of_a_case() {
    let cases: &[&[bool]] = &[&[true, true, true], &[true, true, false], &[true, true, true]];
    let all = judge_trials(&gate("hit", "pass_hat_k", "at_least: 0.8"), cases);
    assert_eq!((all.metric.value, all.metric.cases, all.verdict), (Some(0.666_666_666_667), 3, Verdict::Missed));
    // C(2, 2) / C(3, 2) = 1/3 of the second case.
    let two = judge_trials(&gate("hit", "pass_hat_k", "k: 2, at_least: 0.75"), cases);
    assert_eq!((two.metric.value, two.verdict), (Some(0.777_777_777_778), Verdict::Met));
    let five = judge_trials(&gate("hit", "pass_hat_k", "k: 5, at_least: 0.75"), cases);
    assert_eq!((five.metric.value, five.verdict), (None, Verdict::NoEvidence));
    assert!(five.because.contains("5 trials"), "{}", five.because);
    let some = judge_trials(&gate("hit", "pass_hat_k", "k: 3, at_least: 0.75"), &[&[true, true, true], &[true]]);
    assert_eq!((some.metric.value, some.metric.cases), (Some(1.0), 1), "a case with one trial is left out");
}

#[test]
fn repeated_trials_print_their_effective_number() {
    let cases: &[&[bool]] = &[&[true; 4], &[true; 4], &[false; 4]];
    let repeated = judge_trials(&gate("hit", "rate", "at_least: 0.5"), cases).metric;
    assert_eq!((repeated.n, repeated.cases), (12, 3));
    assert!(repeated.effective_n.is_some_and(|n| n < 4.0), "{repeated:?}");
    let single = judge_trials(&gate("hit", "rate", "at_least: 0.5"), &[&[true], &[true], &[false]]).metric;
    assert_eq!((single.n, single.effective_n), (3, None));
    assert!(repeated.high.zip(repeated.low).is_some_and(|(high, low)| high - low > 0.6), "{repeated:?}");
}

/// Returns after how many of 200 cases a run may stop; `None` if it may not.
fn cases_until_decided(bound: &str, min_cases: usize, mut is_hit: impl FnMut(usize) -> bool) -> Option<usize> {
    let gate = format!(
        "{{ id: g, spec: ours, scorer: hit, slice: pooled, tiers: [2], min_cases: {min_cases}, aggregate: rate, at_least: {bound}, why: test }}"
    );
    let workspace = ExampleWorkspace::questions(200, &gate);
    let cases: Vec<&Case> = workspace.cases().filter(|case| case.kind == SuiteKind::ToolSelection).collect();
    let mut judge = GateJudge::new(&workspace, &tier_claim()).with_planned_cases(cases.iter().copied());
    for (n, case) in cases.iter().enumerate() {
        let (trial, scores) = (ContentHash::of_text(&n.to_string()), [Score::new("hit", Reading::from_bool(is_hit(n)), vec![])]);
        judge.add(&MeasuredTrial { trial: &trial, subject: "s", case, scores: &scores, aborted: false, content: None });
        judge.end_case("s", case);
        if judge.is_decided() {
            return Some(n + 1);
        }
    }
    None
}

#[test]
fn runs_stop_when_gates_are_decided() {
    // A clean subject excludes 0.85 once 0.85^n is below 0.05 / (n + 1).
    assert_eq!(cases_until_decided("0.85", 1, |_| true), Some(42));
    assert_eq!(cases_until_decided("0.85", 60, |_| true), Some(60), "a met bound needs its minimum of cases");
    assert!(cases_until_decided("0.85", 60, |n| n % 2 == 0).is_some_and(|cases| cases < 20), "a missed one does not");
    assert_eq!(cases_until_decided("0.85", 1, |n| n % 20 < 17), Some(200), "a rate at the bound is never decided early");
}

#[test]
fn zero_tolerance_gates_stop_at_a_miss_or_their_minimum() {
    assert_eq!(cases_until_decided("1.0", 30, |n| n != 6), Some(7));
    assert_eq!(cases_until_decided("1.0", 30, |_| true), Some(30));
}
