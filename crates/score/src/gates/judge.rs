//! Judging gates. Nothing measured is never a pass.

use super::interval::{at_least, at_most, ruled_out};
use super::judging::Judging;
use super::pool::Pool;
use super::slices::OneSlice;
use crate::scorers::scorer_named;
use model::suite::Case;
use model::{Aggregate, Bound, Gate, Hash, Judgement, Metric, RulesOut, Score, Verdict, Workspace};

/// One trial as far as judging needs it.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    pub trial: &'a Hash,
    pub subject: &'a str,
    pub case: &'a Case,
    /// Empty for a trial the harness broke.
    pub scores: &'a [Score],
    pub aborted: bool,
    /// Of what happened; equal transcripts are one piece of evidence. Absent where nobody computed it.
    pub content: Option<&'a Hash>,
}

/// How sure a gate must be before it is met.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Demands {
    /// The bound must hold for the one-sided bound at this confidence, not only for the rate seen. Gates that allow no miss stay as they are.
    pub confidence: Option<f64>,
    /// A gate that allows no miss must rule out failing this often.
    pub rule_out: Option<f64>,
}

/// The confidence of what a clean run rules out.
const CONFIDENCE: f64 = 0.95;

/// What a run claims to have measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A whole tier: every gate of the tier, every slice, with its minimum of cases.
    Tier(u64),
    /// Some cases a person chose: the gates these cases concern, judged on what is there.
    Selection,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub judgements: Vec<Judgement>,
    pub out_of_scope: Vec<String>,
}

/// Every subject is judged by itself: the average of a good and a bad agent is nobody.
pub fn judge(workspace: &Workspace, measured: &[Measured<'_>], scope: Scope) -> Judged {
    judge_with(workspace, measured, scope, Demands::default())
}

/// Like `judge`, with more asked of every gate.
pub fn judge_with(workspace: &Workspace, measured: &[Measured<'_>], scope: Scope, demands: Demands) -> Judged {
    let mut judging = Judging::new(workspace, scope, demands);
    for trial in measured {
        judging.add(trial);
    }
    judging.finish()
}

/// What a run claims, and what is asked of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    pub scope: Scope,
    pub demands: Demands,
}

pub(super) fn judge_slice(gate: &Gate, subject: &str, slice: &OneSlice, pool: &Pool, claim: Claim) -> Judgement {
    let value = pool.value(gate.aggregate);
    let interval = pool.interval(gate.aggregate);
    let needed = match claim.scope {
        Scope::Tier(_) => gate.min_cases,
        Scope::Selection => 1,
    };
    let rules_out = rules_out(gate, pool);
    let (mut verdict, mut because) = verdict(gate, pool, value, needed);
    if verdict == Verdict::Met
        && let Some(doubt) = doubt(gate, pool, rules_out, claim.demands)
    {
        (verdict, because) = (Verdict::NoEvidence, doubt);
    }
    let metric = Metric {
        scorer: gate.scorer.value.clone(),
        slice: slice.label(),
        value,
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        exact: pool.exact(gate.aggregate),
        n: pool.of.max(pool.levels()),
        cases: pool.cases(),
    };
    Judgement {
        gate: gate.id.value.clone(),
        subject: subject.to_owned(),
        spec: gate.spec.text().to_owned(),
        metric,
        bound: gate.bound,
        verdict,
        rules_out,
        because,
        worst: pool.worst(),
    }
}

/// Whether one miss breaks the gate.
fn allows_no_miss(gate: &Gate) -> bool {
    match (gate.aggregate, gate.bound) {
        (Aggregate::Rate, Bound::AtLeast(bound)) => bound >= 1.0,
        (Aggregate::MissRate | Aggregate::Misses, Bound::AtMost(bound)) => bound <= 0.0,
        (Aggregate::Rate | Aggregate::MissRate | Aggregate::Misses | Aggregate::Max | Aggregate::Mean, _) => false,
    }
}

fn rules_out(gate: &Gate, pool: &Pool) -> Option<RulesOut> {
    let n = pool.independent();
    let clean = allows_no_miss(gate) && pool.of > 0 && pool.hit == pool.of;
    let failure_rate = ruled_out(n, CONFIDENCE).filter(|_| clean)?;
    Some(RulesOut { failure_rate, confidence: CONFIDENCE, n })
}

/// Why a bound that holds has not been shown as surely as was asked.
fn doubt(gate: &Gate, pool: &Pool, rules_out: Option<RulesOut>, demands: Demands) -> Option<String> {
    if allows_no_miss(gate) {
        let asked = demands.rule_out?;
        let shown = rules_out.map_or(1.0, |shown| shown.failure_rate);
        return (shown > asked).then(|| format!("rules out failing in {:.1} % of cases, {:.1} % was asked", shown * 100.0, asked * 100.0));
    }
    let confidence = demands.confidence?;
    // Several tallies of one case stand or fall together, so cases are counted, at the rate seen.
    let n = pool.independent() as f64;
    let rate = pool.rate()?;
    let (low, high) = (at_least(rate * n, n, confidence)?, at_most(rate * n, n, confidence)?);
    let shown = match (gate.aggregate, gate.bound) {
        (Aggregate::Rate, Bound::AtLeast(_)) => low,
        (Aggregate::Rate, Bound::AtMost(_)) => high,
        (Aggregate::MissRate, Bound::AtLeast(_)) => 1.0 - high,
        (Aggregate::MissRate, Bound::AtMost(_)) => 1.0 - low,
        (Aggregate::Misses | Aggregate::Max | Aggregate::Mean, _) => return None,
    };
    let sure = confidence * 100.0;
    (!gate.bound.holds(shown)).then(|| format!("at {sure:.0} % confidence {shown:.3}, {} cases are too few", pool.independent()))
}

/// A bound that is broken stays broken however little was measured; a bound that holds needs enough evidence.
fn verdict(gate: &Gate, pool: &Pool, value: Option<f64>, needed: usize) -> (Verdict, String) {
    let cases = pool.cases();
    match value {
        Some(value) if !gate.bound.holds(value) => (Verdict::Missed, String::new()),
        Some(_) if pool.has_unscorable() => (Verdict::NoEvidence, format!("unscorable: {}", pool.unscorable())),
        Some(_) if pool.aborted > 0 => (Verdict::NoEvidence, format!("trials aborted: {}", pool.aborted)),
        Some(_) if cases >= needed => {
            let short =
                if cases < gate.min_cases { format!("{cases} of the {} cases a tier needs", gate.min_cases) } else { String::new() };
            (Verdict::Met, short)
        }
        Some(_) => (Verdict::NoEvidence, format!("{cases} of {needed} cases")),
        None if scorer_named(&gate.scorer).is_none() => {
            (Verdict::NoEvidence, format!("{} is not measured by this version", gate.scorer.value))
        }
        None if pool.has_unscorable() => (Verdict::NoEvidence, format!("unscorable: {}", pool.unscorable())),
        None if cases > 0 => (Verdict::NoEvidence, format!("{} does not read what this aggregate pools", gate.scorer.value)),
        None => (Verdict::NoEvidence, format!("nothing measured, {needed} cases needed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use model::Reading;

    fn judged(readings: &[(&str, Reading)], scope: Scope) -> Judged {
        let workspace = Example::minimal().load().expect("the minimal workspace");
        let scores: Vec<(Hash, &Case, Vec<Score>)> = readings
            .iter()
            .map(|(case, reading)| {
                let score = Score { scorer: "hit".into(), reading: reading.clone(), because: vec![] };
                (Hash::of_text(case), workspace.case(case).expect("a case"), vec![score])
            })
            .collect();
        let measured: Vec<Measured<'_>> = scores
            .iter()
            .map(|(trial, case, scores)| Measured { trial, subject: "s", case, scores, aborted: false, content: None })
            .collect();
        judge(&workspace, &measured, scope)
    }

    fn hit_rate(judged: &Judged) -> &Judgement {
        judged.judgements.iter().find(|judgement| judgement.gate == "hit_rate").expect("the gate")
    }

    #[test]
    fn an_empty_run_meets_no_gate_of_a_tier() {
        let judged = judged(&[], Scope::Tier(2));
        assert_eq!(judged.judgements.len(), 3);
        assert!(judged.judgements.iter().all(|judgement| judgement.verdict == Verdict::NoEvidence));
        assert!(judged.judgements.iter().all(|judgement| judgement.metric.value.is_none()));
    }

    #[test]
    fn too_few_cases_are_no_evidence_in_a_tier_and_a_note_in_a_selection() {
        let one = [("how_much_usdc", Reading::one(true))];
        assert_eq!(hit_rate(&judged(&one, Scope::Tier(2))).verdict, Verdict::NoEvidence);
        let judged = judged(&one, Scope::Selection);
        assert_eq!(hit_rate(&judged).verdict, Verdict::Met);
        assert_eq!(hit_rate(&judged).because, "1 of the 2 cases a tier needs");
        assert_eq!(judged.out_of_scope, ["safety_pipeline"]);
    }

    #[test]
    fn a_broken_bound_is_missed_however_little_was_measured() {
        let judged = judged(&[("how_much_usdc", Reading::one(false))], Scope::Tier(2));
        assert_eq!(hit_rate(&judged).verdict, Verdict::Missed);
        assert_eq!(hit_rate(&judged).worst[0].case, "how_much_usdc");
    }

    #[test]
    fn repeating_a_case_does_not_add_cases() {
        let twice = [("how_much_usdc", Reading::one(true)), ("how_much_usdc", Reading::one(true))];
        let judged = judged(&twice, Scope::Tier(2));
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
        assert_eq!(hit_rate(&judged(&readings, Scope::Tier(2))).verdict, Verdict::NoEvidence);
        assert_eq!(hit_rate(&judged(&[("how_much_usdc", Reading::not_exercised())], Scope::Selection)).verdict, Verdict::NoEvidence);
    }

    /// A gate on `scorer`, judged on these readings, each of its own case of the minimal workspace.
    fn judged_as(gate: &str, scorer: &str, readings: &[Reading], contents: &[&str], demands: Demands) -> Judgement {
        let example = Example::minimal().with("gates.yaml", gate);
        let workspace = example.load().unwrap_or_else(|problems| panic!("{problems:#?}"));
        let contents: Vec<Hash> = contents.iter().map(|text| Hash::of_text(text)).collect();
        let cases: Vec<&Case> = workspace.cases().collect();
        let scores: Vec<Vec<Score>> =
            readings.iter().map(|reading| vec![Score { scorer: scorer.into(), reading: reading.clone(), because: vec![] }]).collect();
        let trials: Vec<Hash> = (0..readings.len()).map(|n| Hash::of_text(&n.to_string())).collect();
        let measured: Vec<Measured<'_>> = (0..readings.len())
            .map(|n| Measured {
                trial: &trials[n],
                subject: "s",
                case: cases[n % cases.len()],
                scores: &scores[n],
                aborted: false,
                content: contents.get(n),
            })
            .collect();
        judge_with(&workspace, &measured, Scope::Tier(2), demands).judgements.remove(0)
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
            let judgement = judged_as(&gate, "hit", &clean, &different, Demands::default());
            let shown = judgement.rules_out.expect("a rate");
            assert_eq!((judgement.verdict, shown.n), (Verdict::Met, 4));
            assert!((shown.failure_rate - (1.0 - 0.05_f64.powf(0.25))).abs() < 1e-12);
            let alike = judged_as(&gate, "hit", &clean, &["a", "a", "a", "d"], Demands::default());
            assert_eq!(alike.rules_out.map(|shown| shown.n), Some(2), "identical transcripts count once");
            let asked = Demands { rule_out: Some(0.5), ..Demands::default() };
            assert_eq!(judged_as(&gate, "hit", &clean, &different, asked).verdict, Verdict::NoEvidence, "4 cases rule out 52.7 %");
            let asked = Demands { rule_out: Some(0.53), ..Demands::default() };
            assert_eq!(judged_as(&gate, "hit", &clean, &different, asked).verdict, Verdict::Met);
            let missed = [clean.clone(), vec![Reading::one(false)]].concat();
            let judgement = judged_as(&gate, "hit", &missed, &[], Demands::default());
            assert_eq!((judgement.verdict, judgement.rules_out), (Verdict::Missed, None));
        }
    }

    #[test]
    fn confidence_asks_for_the_one_sided_bound_of_cases() {
        let gate = gate("hit", "rate", "at_least: 0.4");
        let clean = vec![Reading::Tally { hit: 100, of: 100 }; 4];
        let sure = |confidence| Demands { confidence: Some(confidence), ..Demands::default() };
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
            let judgement = judged_as(&gate("trajectory", aggregate, bound), "trajectory", readings, &[], Demands::default());
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
}
