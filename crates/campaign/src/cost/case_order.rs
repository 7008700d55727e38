//! Order of cases that cost money: first those that bring gates to their minimum number of cases, then by information per dollar.

use super::quote::TrialQuote;
use model::suite::Case;
use model::{RunClaim, Workspace};
use score::gates::{case_unit, members_of_slices};
use score::scorers::scorer_named;
use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

/// Number of cases that a slice of a gate needs, and has so far.
struct SliceNeed {
    needed: usize,
    has: usize,
}

impl SliceNeed {
    /// Returns the value of one more case: high below the minimum, then the reduction of the confidence interval.
    fn marginal_value(&self) -> f64 {
        let shrinks = ((self.has + 1) as f64).powi(-2);
        if self.has < self.needed { BELOW_MINIMUM_BONUS + shrinks } else { shrinks }
    }
}

/// Exceeds the sum of all interval reductions.
const BELOW_MINIMUM_BONUS: f64 = 1e4;
/// Lower bound of a cost, so that a free case has a finite value per dollar.
const MIN_COST_NANOS: f64 = 1.0;

/// Orders the cases. `quotes` has one entry per case and subject. Free cases keep their order.
pub fn order_by_gate_need<'c>(workspace: &Workspace, claim: RunClaim, cases: &[&'c Case], quotes: &[TrialQuote]) -> Vec<&'c Case> {
    let costs: Vec<f64> = quotes.chunks((quotes.len() / cases.len().max(1)).max(1)).map(likely_cost).collect();
    if costs.iter().all(|cost| *cost <= MIN_COST_NANOS) {
        return cases.to_vec();
    }
    let (needs, serves) = slice_needs(workspace, claim, cases);
    greedy_order(needs, &serves, &costs).into_iter().map(|n| cases[n]).collect()
}

fn likely_cost(quotes: &[TrialQuote]) -> f64 {
    let nanos: u64 = quotes.iter().map(|quote| quote.likely.as_nanos()).fold(0, u64::saturating_add);
    (nanos as f64).max(MIN_COST_NANOS)
}

/// Returns all slices in scope, and for each case the indices of the slices it belongs to.
fn slice_needs(workspace: &Workspace, claim: RunClaim, cases: &[&Case]) -> (Vec<SliceNeed>, Vec<Vec<usize>>) {
    let (mut needs, mut serves) = (vec![], vec![vec![]; cases.len()]);
    for gate in workspace.gates.iter().filter(|gate| gate.judges_tier(claim.tier)) {
        let Some(scorer) = scorer_named(workspace, &gate.scorer) else { continue };
        for (_, members) in members_of_slices(gate, workspace, scorer, cases) {
            // Further cases of a unit, such as more attacks by one probe, do not bring the gate closer to its minimum.
            let mut units = BTreeSet::new();
            for n in members {
                if units.insert(case_unit(&gate.scorer, cases[n])) {
                    serves[n].push(needs.len());
                }
            }
            needs.push(SliceNeed { needed: gate.min_cases, has: 0 });
        }
    }
    (needs, serves)
}

/// Returns case indices, best first. Values only decrease as cases are taken, so a candidate that is still first after being reevaluated
/// is the best.
fn greedy_order(mut needs: Vec<SliceNeed>, serves: &[Vec<usize>], costs: &[f64]) -> Vec<usize> {
    let worth = |needs: &[SliceNeed], n: usize| serves[n].iter().map(|need| needs[*need].marginal_value()).sum::<f64>() / costs[n];
    let mut left: BinaryHeap<CaseCandidate> = (0..serves.len()).map(|n| CaseCandidate { worth: worth(&needs, n), n }).collect();
    let mut order = Vec::with_capacity(serves.len());
    while let Some(CaseCandidate { n, .. }) = left.pop() {
        let now = CaseCandidate { worth: worth(&needs, n), n };
        if left.peek().is_some_and(|next| *next > now) {
            left.push(now);
            continue;
        }
        order.push(n);
        for need in &serves[n] {
            needs[*need].has += 1;
        }
    }
    order
}

#[derive(Debug, Clone, Copy)]
struct CaseCandidate {
    worth: f64,
    n: usize,
}

// Highest value first; ties by index.
impl Ord for CaseCandidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then(other.n.cmp(&self.n))
    }
}

impl PartialOrd for CaseCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for CaseCandidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for CaseCandidate {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slice_need(needed: usize) -> SliceNeed {
        SliceNeed { needed, has: 0 }
    }

    #[test]
    fn order_fills_gates_below_minimum_first() {
        // Three cases serve the first gate, which needs one; the fourth serves the second gate.
        let serves = [vec![0], vec![0], vec![0], vec![1]];
        assert_eq!(greedy_order(vec![slice_need(1), slice_need(1)], &serves, &[1.0; 4]), [0, 3, 1, 2]);
    }

    #[test]
    fn order_prefers_the_cheaper_of_equal_cases() {
        assert_eq!(greedy_order(vec![slice_need(1)], &[vec![0], vec![0]], &[5.0, 2.0]), [1, 0]);
    }

    #[test]
    fn order_prefers_cases_serving_more_gates() {
        assert_eq!(greedy_order(vec![slice_need(1), slice_need(1)], &[vec![0], vec![0, 1]], &[1.0, 1.5]), [1, 0]);
    }

    proptest! {
        #[test]
        fn order_is_a_permutation_of_the_cases(
            serves in prop::collection::vec(prop::collection::vec(0_usize..6, 0..4), 0..40),
            needed in prop::collection::vec(0_usize..5, 6),
        ) {
            let costs: Vec<f64> = (0..serves.len()).map(|n| 1.0 + (n * 7 % 5) as f64).collect();
            let mut order = greedy_order(needed.into_iter().map(slice_need).collect(), &serves, &costs);
            order.sort_unstable();
            prop_assert_eq!(order, (0..serves.len()).collect::<Vec<_>>());
        }
    }
}
