//! Gates judged on hand-made readings.

use super::{MeasuredTrial, judge};
use crate::example::Example;
use model::suite::Case;
use model::{Claim, GateVerdicts, Hash, Judgement, Reading, Score, Verdict};

fn tier() -> Claim {
    Claim { tier: Some(2), ..Claim::default() }
}

fn judged(readings: &[(&str, Reading)], claim: Claim) -> GateVerdicts {
    let workspace = Example::minimal().load().expect("the minimal workspace");
    let scores: Vec<(Hash, &Case, Vec<Score>)> = readings
        .iter()
        .map(|(case, reading)| {
            let score = Score { scorer: "hit".into(), reading: reading.clone(), because: vec![] };
            (Hash::of_text(case), workspace.case(case).expect("a case"), vec![score])
        })
        .collect();
    let measured: Vec<MeasuredTrial<'_>> = scores
        .iter()
        .map(|(trial, case, scores)| MeasuredTrial { trial, subject: "s", case, scores, aborted: false, content: None })
        .collect();
    judge(&workspace, &measured, &claim)
}

fn hit_rate(judged: &GateVerdicts) -> &Judgement {
    judged.judgements.iter().find(|judgement| judgement.gate == "hit_rate").expect("the gate")
}

#[test]
fn an_empty_run_meets_no_gate_of_a_tier() {
    let judged = judged(&[], tier());
    assert_eq!(judged.judgements.len(), 3);
    assert!(judged.judgements.iter().all(|judgement| judgement.verdict == Verdict::NoEvidence));
    assert!(judged.judgements.iter().all(|judgement| judgement.metric.value.is_none()));
}

#[test]
fn too_few_cases_are_no_evidence_in_a_tier_and_a_note_in_a_selection() {
    let one = [("how_much_usdc", Reading::one(true))];
    assert_eq!(hit_rate(&judged(&one, tier())).verdict, Verdict::NoEvidence);
    let judged = judged(&one, Claim::default());
    assert_eq!(hit_rate(&judged).verdict, Verdict::Met);
    assert_eq!(hit_rate(&judged).because, "1 of the 2 cases a tier needs");
    assert_eq!(judged.out_of_scope, ["safety_pipeline"]);
}

#[test]
fn a_broken_bound_is_missed_however_little_was_measured() {
    let judged = judged(&[("how_much_usdc", Reading::one(false))], tier());
    assert_eq!(hit_rate(&judged).verdict, Verdict::Missed);
    assert_eq!(hit_rate(&judged).worst[0].case, "how_much_usdc");
}

#[test]
fn repeating_a_case_does_not_add_cases() {
    let twice = [("how_much_usdc", Reading::one(true)), ("how_much_usdc", Reading::one(true))];
    let judged = judged(&twice, tier());
    assert_eq!((hit_rate(&judged).metric.n, hit_rate(&judged).metric.cases), (2, 1));
    assert_eq!(hit_rate(&judged).verdict, Verdict::NoEvidence);
}

#[test]
fn what_cannot_be_scored_blocks() {
    let readings = [
        ("how_much_usdc", Reading::one(true)),
        ("price_before_trading", Reading::one(true)),
        ("how_much_usdc", Reading::Unscorable { why: "broken".into() }),
    ];
    assert_eq!(hit_rate(&judged(&readings, tier())).verdict, Verdict::NoEvidence);
    assert_eq!(hit_rate(&judged(&[("how_much_usdc", Reading::not_exercised())], Claim::default())).verdict, Verdict::NoEvidence);
}

/// A gate on `scorer`, judged on these readings, each of its own case of the minimal workspace.
fn judged_as(gate: &str, scorer: &str, readings: &[Reading], contents: &[&str], claim: Claim) -> Judgement {
    let example = Example::minimal().with("gates.yaml", gate);
    let workspace = example.load().unwrap_or_else(|problems| panic!("{problems:#?}"));
    let contents: Vec<Hash> = contents.iter().map(|text| Hash::of_text(text)).collect();
    let cases: Vec<&Case> = workspace.cases().collect();
    let scores: Vec<Vec<Score>> =
        readings.iter().map(|reading| vec![Score { scorer: scorer.into(), reading: reading.clone(), because: vec![] }]).collect();
    let trials: Vec<Hash> = (0..readings.len()).map(|n| Hash::of_text(&n.to_string())).collect();
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
    judge(&workspace, &measured, &Claim { tier: Some(2), ..claim }).judgements.remove(0)
}

fn gate(scorer: &str, aggregate: &str, bound: &str) -> String {
    format!(
        "gates:\n  - {{ id: g, spec: ours, scorer: {scorer}, slice: pooled, tiers: [2], min_cases: 1, aggregate: {aggregate}, {bound}, why: test }}\n"
    )
}

#[test]
fn a_gate_that_allows_no_miss_says_what_it_rules_out() {
    let clean = vec![Reading::Tally { hit: 9, of: 9 }; 4];
    let different = ["a", "b", "c", "d"];
    for (aggregate, bound) in [("rate", "at_least: 1.0"), ("misses", "at_most: 0"), ("miss_rate", "at_most: 0")] {
        let gate = gate("hit", aggregate, bound);
        let judgement = judged_as(&gate, "hit", &clean, &different, Claim::default());
        let shown = judgement.rules_out.expect("a rate");
        assert_eq!((judgement.verdict, shown.n), (Verdict::Met, 4));
        assert!((shown.failure_rate - (1.0 - 0.05_f64.powf(0.25))).abs() < 1e-12);
        let alike = judged_as(&gate, "hit", &clean, &["a", "a", "a", "d"], Claim::default());
        assert_eq!(alike.rules_out.map(|shown| shown.n), Some(2), "identical transcripts count once");
        let asked = Claim { rule_out: Some(0.5), ..Claim::default() };
        assert_eq!(judged_as(&gate, "hit", &clean, &different, asked).verdict, Verdict::NoEvidence, "4 cases rule out 52.7 %");
        let asked = Claim { rule_out: Some(0.53), ..Claim::default() };
        assert_eq!(judged_as(&gate, "hit", &clean, &different, asked).verdict, Verdict::Met);
        let missed = [clean.clone(), vec![Reading::one(false)]].concat();
        let judgement = judged_as(&gate, "hit", &missed, &[], Claim::default());
        assert_eq!((judgement.verdict, judgement.rules_out), (Verdict::Missed, None));
    }
}

#[test]
fn confidence_asks_for_the_one_sided_bound_of_cases() {
    let gate = gate("hit", "rate", "at_least: 0.4");
    let clean = vec![Reading::Tally { hit: 100, of: 100 }; 4];
    let sure = |confidence| Claim { confidence: Some(confidence), ..Claim::default() };
    // Four clean cases show 0.05^(1/4) = 0.473 at 95 % and 0.316 at 99 %, however many tallies they hold.
    assert_eq!(judged_as(&gate, "hit", &clean, &[], sure(0.95)).verdict, Verdict::Met);
    let judgement = judged_as(&gate, "hit", &clean, &[], sure(0.99));
    assert_eq!(judgement.verdict, Verdict::NoEvidence);
    assert!(judgement.because.contains("0.316"), "{}", judgement.because);
    assert!(judgement.metric.exact.is_some_and(|exact| exact.low < 1.0 && exact.high == 1.0));
}

#[test]
fn every_aggregate_pools_what_it_can_and_nothing_else() {
    let levels = [Reading::Level(0.9), Reading::Level(0.5), Reading::Level(1.0)];
    let value = |aggregate: &str, bound: &str, readings: &[Reading]| {
        let judgement = judged_as(&gate("trajectory", aggregate, bound), "trajectory", readings, &[], Claim::default());
        (judgement.metric.value, judgement.verdict, judgement.worst.first().map(|worst| worst.case.clone()))
    };
    let (mean, verdict, worst) = value("mean", "at_least: 0.8", &levels);
    assert!(mean.is_some_and(|mean| (mean - 0.8).abs() < 1e-12) && verdict == Verdict::Met, "{mean:?}");
    let workspace = Example::minimal().load().expect("the minimal workspace");
    assert_eq!(worst, workspace.cases().nth(1).map(|case| case.id.value.clone()), "the lowest level is the worst");
    assert_eq!(value("max", "at_most: 0.95", &levels).0, Some(1.0));
    assert_eq!(value("max", "at_most: 0.95", &levels).1, Verdict::Missed);
    assert_eq!(value("rate", "at_least: 0.8", &levels).1, Verdict::NoEvidence, "levels are no tallies");
    let rates = [Reading::Tally { hit: 1, of: 1 }, Reading::Tally { hit: 1, of: 2 }];
    assert_eq!(value("mean", "at_least: 0.7", &rates).0, Some(0.75));
    assert_eq!(value("misses", "at_most: 1", &rates).0, Some(1.0));
    assert_eq!(value("mean", "at_least: 0.5", &[Reading::Level(0.9), Reading::Level(f64::NAN)]).1, Verdict::NoEvidence);
}
