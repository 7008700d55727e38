//! Order of cases that cost money: every gate in scope is filled to its minimum first, then by information per dollar.

use super::quote::Quote;
use model::suite::Case;
use model::{Claim, Workspace};
use score::gates::members_of_slices;
use score::scorers::scorer_named;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A slice of a gate: how many cases it needs and how many it has so far.
struct Need {
    needed: usize,
    has: usize,
}

impl Need {
    /// Value of one more case: high while the gate cannot be judged, then as much as an interval still shrinks by it.
    fn worth(&self) -> f64 {
        let shrinks = ((self.has + 1) as f64).powi(-2);
        if self.has < self.needed { LACKING + shrinks } else { shrinks }
    }
}

/// More than all that shrinking can add up to.
const LACKING: f64 = 1e4;
/// Lower bound of a cost, so that a free case has a finite value per dollar.
const CHEAPEST: f64 = 1.0;

/// `quotes` has one entry for each case and subject. Cases that cost nothing stay as they are.
pub fn gates_first<'c>(workspace: &Workspace, claim: Claim, cases: &[&'c Case], quotes: &[Quote]) -> Vec<&'c Case> {
    let costs: Vec<f64> = quotes.chunks((quotes.len() / cases.len().max(1)).max(1)).map(cost).collect();
    if costs.iter().all(|cost| *cost <= CHEAPEST) {
        return cases.to_vec();
    }
    let (needs, serves) = needs(workspace, claim, cases);
    in_order(needs, &serves, &costs).into_iter().map(|n| cases[n]).collect()
}

fn cost(quotes: &[Quote]) -> f64 {
    let nanos: u64 = quotes.iter().map(|quote| quote.likely.as_nanos()).fold(0, u64::saturating_add);
    (nanos as f64).max(CHEAPEST)
}

/// All slices in scope, and for each case those it serves.
fn needs(workspace: &Workspace, claim: Claim, cases: &[&Case]) -> (Vec<Need>, Vec<Vec<usize>>) {
    let (mut needs, mut serves) = (vec![], vec![vec![]; cases.len()]);
    for gate in workspace.gates.iter().filter(|gate| claim.tier.is_none_or(|tier| gate.tiers.contains(&tier))) {
        let Some(scorer) = scorer_named(&gate.scorer) else { continue };
        for (_, members) in members_of_slices(gate, workspace, scorer, cases) {
            for n in members {
                serves[n].push(needs.len());
            }
            needs.push(Need { needed: gate.min_cases, has: 0 });
        }
    }
    (needs, serves)
}

/// Worth only falls while others are taken, so a case that is still first after a second look is the best one.
fn in_order(mut needs: Vec<Need>, serves: &[Vec<usize>], costs: &[f64]) -> Vec<usize> {
    let worth = |needs: &[Need], n: usize| serves[n].iter().map(|need| needs[*need].worth()).sum::<f64>() / costs[n];
    let mut left: BinaryHeap<Candidate> = (0..serves.len()).map(|n| Candidate { worth: worth(&needs, n), n }).collect();
    let mut order = Vec::with_capacity(serves.len());
    while let Some(Candidate { n, .. }) = left.pop() {
        let now = Candidate { worth: worth(&needs, n), n };
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
struct Candidate {
    worth: f64,
    n: usize,
}

// The most worth first; of two alike, the one that stands first.
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then(other.n.cmp(&self.n))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn need(needed: usize) -> Need {
        Need { needed, has: 0 }
    }

    #[test]
    fn a_gate_that_lacks_cases_comes_before_one_that_has_enough() {
        // Three cases of the first gate, which needs one; then one of the second.
        let serves = [vec![0], vec![0], vec![0], vec![1]];
        assert_eq!(in_order(vec![need(1), need(1)], &serves, &[1.0; 4]), [0, 3, 1, 2]);
    }

    #[test]
    fn the_cheaper_of_two_that_tell_the_same_comes_first() {
        assert_eq!(in_order(vec![need(1)], &[vec![0], vec![0]], &[5.0, 2.0]), [1, 0]);
    }

    #[test]
    fn whoever_serves_two_gates_comes_before_whoever_serves_one() {
        assert_eq!(in_order(vec![need(1), need(1)], &[vec![0], vec![0, 1]], &[1.0, 1.5]), [1, 0]);
    }

    proptest! {
        #[test]
        fn every_case_is_run_once(
            serves in prop::collection::vec(prop::collection::vec(0_usize..6, 0..4), 0..40),
            needed in prop::collection::vec(0_usize..5, 6),
        ) {
            let costs: Vec<f64> = (0..serves.len()).map(|n| 1.0 + (n * 7 % 5) as f64).collect();
            let mut order = in_order(needed.into_iter().map(need).collect(), &serves, &costs);
            order.sort_unstable();
            prop_assert_eq!(order, (0..serves.len()).collect::<Vec<_>>());
        }
    }
}
