//! Decides whether the verdict on a slice is settled before all its cases were run. Looks at whole cases, in the order of the plan.

use super::pool::ReadingPool;
use super::slice_verdict::allows_no_miss;
use crate::statistics::{AnytimeRate, ruled_out_failure_rate};
use model::{Gate, GateAggregate, GateBound, RunClaim};

/// Confidence of a run that claims none.
const CONFIDENCE: f64 = 0.95;

/// Returns whether further cases are unlikely to change the verdict: the bound is excluded at every moment of the run, a gate that allows
/// no miss has one or enough clean cases, or no case is left.
pub(super) fn is_slice_settled(gate: &Gate, pool: &ReadingPool, planned: usize, claim: &RunClaim) -> bool {
    if pool.ended_cases >= planned {
        return true;
    }
    let cases = pool.cases(gate.aggregate);
    let value = pool.value(gate.aggregate);
    let is_broken = value.is_some_and(|value| !gate.bound.holds(value));
    if allows_no_miss(gate) {
        let ruled_out = ruled_out_failure_rate(pool.independent_cases(), CONFIDENCE).unwrap_or(1.0);
        return is_broken || (cases >= gate.min_cases && claim.rule_out.is_none_or(|asked| ruled_out <= asked));
    }
    match gate.aggregate {
        // A count and a maximum only grow.
        GateAggregate::Misses | GateAggregate::Max => is_broken && matches!(gate.bound, GateBound::AtMost(_)),
        GateAggregate::Rate | GateAggregate::MissRate | GateAggregate::Mean | GateAggregate::PassHatK => {
            let values: Option<Vec<f64>> = pool.case_readings().map(|(_, case)| case.value(gate.aggregate, gate.k)).collect();
            let is_share = |values: &Vec<f64>| values.iter().all(|value| (0.0..=1.0).contains(value));
            let Some(values) = values.filter(is_share) else { return false };
            let state = AnytimeRate::new(values.iter().sum(), values.len() as f64);
            let is_excluded = state.excludes(gate.bound.value(), claim.confidence.unwrap_or(CONFIDENCE));
            // The mean over cases and the pooled rate must agree, and a met bound needs its minimum of cases.
            let agrees = state.rate().is_some_and(|rate| gate.bound.holds(rate) != is_broken);
            is_excluded && agrees && (is_broken || cases >= gate.min_cases)
        }
    }
}
