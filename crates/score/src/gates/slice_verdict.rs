//! Verdict on one slice of a gate. Without a measurement there is no pass.

use super::pool::ReadingPool;
use super::slices::SliceKey;
use crate::scorers::scorer_named;
use crate::statistics::{lower_bound, ruled_out_failure_rate, upper_bound};
use model::{FailureRateBound, Gate, GateAggregate, GateBound, GateResult, Metric, RunClaim, Verdict, Workspace};

/// Confidence of the failure rate that a clean run rules out.
const CONFIDENCE: f64 = 0.95;

/// Judges a gate on one slice. A tier run needs the gate's `min_cases`, other runs one case.
pub(super) fn judge_slice(
    workspace: &Workspace,
    gate: &Gate,
    subject: &str,
    slice: &SliceKey,
    pool: &ReadingPool,
    claim: &RunClaim,
) -> GateResult {
    let value = pool.value(gate.aggregate);
    let interval = pool.interval(gate.aggregate);
    let needed = if claim.tier.is_some() { gate.min_cases } else { 1 };
    let rules_out = rules_out(gate, pool);
    let (mut verdict, mut because) = verdict(workspace, gate, pool, value, needed);
    if verdict == Verdict::Met
        && let Some(doubt) = insufficient_evidence(gate, pool, rules_out, claim)
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
        effective_n: pool.effective_n(gate.aggregate),
        cases: pool.cases(gate.aggregate),
    };
    GateResult {
        gate: gate.id.value.clone(),
        subject: subject.to_owned(),
        spec: gate.spec.as_str().to_owned(),
        metric,
        bound: gate.bound,
        verdict,
        rules_out,
        because,
        worst: pool.worst(),
    }
}

/// Reports whether a single miss breaks the gate.
pub(crate) fn allows_no_miss(gate: &Gate) -> bool {
    match (gate.aggregate, gate.bound) {
        (GateAggregate::Rate | GateAggregate::PassHatK, GateBound::AtLeast(bound)) => bound >= 1.0,
        (GateAggregate::MissRate | GateAggregate::Misses, GateBound::AtMost(bound)) => bound <= 0.0,
        (GateAggregate::Rate | GateAggregate::PassHatK, GateBound::AtMost(_))
        | (GateAggregate::MissRate | GateAggregate::Misses, GateBound::AtLeast(_))
        | (GateAggregate::Max | GateAggregate::Mean, _) => false,
    }
}

fn rules_out(gate: &Gate, pool: &ReadingPool) -> Option<FailureRateBound> {
    let n = pool.independent_cases();
    let clean = allows_no_miss(gate) && pool.of > 0 && pool.hit == pool.of;
    let failure_rate = ruled_out_failure_rate(n, CONFIDENCE).filter(|_| clean)?;
    Some(FailureRateBound { failure_rate, confidence: CONFIDENCE, n })
}

/// Returns the reason if the bound holds but not at the confidence that the run claims.
fn insufficient_evidence(gate: &Gate, pool: &ReadingPool, rules_out: Option<FailureRateBound>, claim: &RunClaim) -> Option<String> {
    if allows_no_miss(gate) {
        let asked = claim.rule_out?;
        let shown = rules_out.map_or(1.0, |shown| shown.failure_rate);
        return (shown > asked).then(|| format!("rules out a failure rate of {:.1} %, {:.1} % required", shown * 100.0, asked * 100.0));
    }
    let confidence = claim.confidence?;
    // Tallies of one case are not independent, so count cases at the observed rate.
    let n = pool.independent_cases() as f64;
    let rate = if gate.aggregate == GateAggregate::PassHatK { pool.value(gate.aggregate)? } else { pool.rate()? };
    let (low, high) = (lower_bound(rate * n, n, confidence)?, upper_bound(rate * n, n, confidence)?);
    let shown = match (gate.aggregate, gate.bound) {
        (GateAggregate::Rate | GateAggregate::PassHatK, GateBound::AtLeast(_)) => low,
        (GateAggregate::Rate | GateAggregate::PassHatK, GateBound::AtMost(_)) => high,
        (GateAggregate::MissRate, GateBound::AtLeast(_)) => 1.0 - high,
        (GateAggregate::MissRate, GateBound::AtMost(_)) => 1.0 - low,
        (GateAggregate::Misses | GateAggregate::Max | GateAggregate::Mean, _) => return None,
    };
    let sure = confidence * 100.0;
    (!gate.bound.holds(shown)).then(|| format!("too few cases ({}): {shown:.3} at {sure:.0} % confidence", pool.independent_cases()))
}

/// Returns the verdict and its reason. A broken bound is missed with any number of cases; a bound that holds needs enough cases.
fn verdict(workspace: &Workspace, gate: &Gate, pool: &ReadingPool, value: Option<f64>, needed: usize) -> (Verdict, String) {
    let cases = pool.cases(gate.aggregate);
    match value {
        Some(value) if !gate.bound.holds(value) => (Verdict::Missed, String::new()),
        Some(_) if pool.has_unscorable() => (Verdict::NoEvidence, format!("unscorable: {}", pool.unscorable())),
        Some(_) if pool.aborted > 0 => (Verdict::NoEvidence, format!("trials aborted: {}", pool.aborted)),
        Some(_) if cases >= needed => {
            let short = if cases < gate.min_cases {
                format!("{cases} of the {} a tier needs", model::count(gate.min_cases, "case"))
            } else {
                String::new()
            };
            (Verdict::Met, short)
        }
        Some(_) => (Verdict::NoEvidence, format!("{cases} of {}", model::count(needed, "case"))),
        None if scorer_named(workspace, &gate.scorer).is_none() => {
            (Verdict::NoEvidence, format!("{} is not measured by this version", gate.scorer.value))
        }
        None if pool.has_unscorable() => (Verdict::NoEvidence, format!("unscorable: {}", pool.unscorable())),
        None if pool.of > 0 && gate.aggregate == GateAggregate::PassHatK => {
            (Verdict::NoEvidence, format!("no case has {}; run with more --trials", model::count(gate.k.unwrap_or(1), "trial")))
        }
        None if cases > 0 => (Verdict::NoEvidence, format!("{} has no readings for this aggregate", gate.scorer.value)),
        None => (Verdict::NoEvidence, format!("nothing measured, {} needed", model::count(needed, "case"))),
    }
}
