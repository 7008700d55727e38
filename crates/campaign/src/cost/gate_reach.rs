//! Gates that a budget can decide because it likely covers enough of their cases.

use super::quote::TrialQuote;
use model::suite::Case;
use model::{Money, RunClaim, Workspace};
use score::gates::cases_in_slices;
use score::scorers::scorer_named;

/// Slice of a gate in scope, with the number of cases that the budget likely covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateReach {
    pub gate: String,
    pub slice: String,
    /// Planned cases of the slice; `funded` are those that the budget likely covers.
    pub planned: usize,
    pub funded: usize,
    pub needed: usize,
}

impl GateReach {
    pub fn is_decided(&self) -> bool {
        self.funded >= self.needed
    }
}

/// Returns the number of cases, in plan order, that the budget likely covers. `quotes` has one entry per case and subject.
pub fn funded_cases(quotes: &[TrialQuote], cases: usize, trials: u64, budget: Option<Money>) -> usize {
    let Some(budget) = budget else { return cases };
    let subjects = quotes.len() / cases.max(1);
    let mut spent = 0_u128;
    let costs = quotes.chunks(subjects.max(1)).map(|quotes| {
        let once: u128 = quotes.iter().map(|quote| u128::from(quote.likely.as_nanos())).sum();
        once * u128::from(trials)
    });
    costs
        .take_while(|cost| {
            spent += cost;
            spent <= u128::from(budget.as_nanos())
        })
        .count()
}

pub fn gate_reach(workspace: &Workspace, claim: RunClaim, cases: &[&Case], funded: usize) -> Vec<GateReach> {
    let mut reached = vec![];
    for gate in workspace.gates.iter().filter(|gate| claim.tier.is_none_or(|tier| gate.tiers.contains(&tier))) {
        let Some(scorer) = scorer_named(&gate.scorer) else { continue };
        let all = cases_in_slices(gate, workspace, scorer, cases);
        let some = cases_in_slices(gate, workspace, scorer, &cases[..funded]);
        for ((slice, planned), (_, funded)) in all.into_iter().zip(some) {
            let needed = if claim.tier.is_some() { gate.min_cases } else { 1 };
            if planned > 0 || claim.tier.is_some() {
                reached.push(GateReach { gate: gate.id.value.clone(), slice, planned, funded, needed });
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn funded_cases_follow_likely_cost() {
        let quote = |likely| TrialQuote { ceiling: Money::from_dollars(9), likely: Money::from_dollars(likely), ..TrialQuote::default() };
        let quotes = [quote(1), quote(0), quote(2), quote(1), quote(5), quote(5)];
        assert_eq!(funded_cases(&quotes, 3, 1, Some(Money::from_dollars(4))), 2);
        assert_eq!(funded_cases(&quotes, 3, 2, Some(Money::from_dollars(4))), 1);
        assert_eq!(funded_cases(&quotes, 3, 1, Some(Money::from_dollars(14))), 3);
        assert_eq!(funded_cases(&quotes, 3, 1, None), 3);
        assert_eq!(funded_cases(&quotes, 3, 1, Some(Money::ZERO)), 0);
        assert_eq!(funded_cases(&[TrialQuote::default(); 2], 2, 100, Some(Money::ZERO)), 2, "free cases are always covered");
    }
}
