//! Gates that a budget can decide.

use super::quote::TrialQuote;
use model::suite::Case;
use model::{Money, RunClaim, Workspace};
use score::gates::{case_unit, members_of_slices, needs_judge, slice_labels};
use score::scorers::scorer_named;
use std::collections::BTreeSet;

/// Slice of a gate in scope, with the number of cases that the budget likely covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateReach {
    pub gate: String,
    pub slice: String,
    /// Planned cases of the slice; `funded` are those that the budget likely covers.
    pub planned: usize,
    pub funded: usize,
    /// Funded cases that the gate cannot count without a judge.
    pub rubrics: usize,
    pub needed: usize,
    pub state: ReachState,
}

/// Outlook of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReachState {
    Decided,
    TooFewCases,
    /// Enough cases, but too few without a judge, and the run has none.
    NeedsJudge,
    /// This version does not have the scorer of the gate.
    NotMeasured,
}

impl ReachState {
    pub fn word(self) -> &'static str {
        match self {
            ReachState::Decided => "decided",
            ReachState::TooFewCases => "too_few_cases",
            ReachState::NeedsJudge => "needs_judge",
            ReachState::NotMeasured => "not_measured",
        }
    }
}

impl GateReach {
    pub fn is_decided(&self) -> bool {
        self.state == ReachState::Decided
    }

    /// Reports whether only a judge can decide the slice, with or without one in this run.
    pub fn is_only_judged(&self) -> bool {
        self.funded >= self.needed && self.funded - self.rubrics < self.needed
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

/// Returns the outlook of every slice in scope if the first `funded` cases are run, with or without a judge.
pub fn gate_reach(workspace: &Workspace, claim: RunClaim, cases: &[&Case], funded: usize, has_judge: bool) -> Vec<GateReach> {
    let mut reached = vec![];
    for gate in workspace.gates.iter().filter(|gate| gate.judges_tier(claim.tier)) {
        let needed = if claim.tier.is_some() { gate.min_cases } else { 1 };
        let Some(scorer) = scorer_named(workspace, &gate.scorer) else {
            if claim.tier.is_some() {
                let slices = slice_labels(gate, workspace).into_iter().map(|slice| GateReach {
                    gate: gate.id.value.clone(),
                    slice,
                    planned: 0,
                    funded: 0,
                    rubrics: 0,
                    needed,
                    state: ReachState::NotMeasured,
                });
                reached.extend(slices);
            }
            continue;
        };
        for (slice, members) in members_of_slices(gate, workspace, scorer, cases) {
            let units = |members: &[usize]| members.iter().map(|n| case_unit(&gate.scorer, cases[*n])).collect::<BTreeSet<_>>().len();
            let planned = units(&members);
            let covered: Vec<usize> = members.into_iter().filter(|n| *n < funded).collect();
            let rubrics = covered.iter().filter(|n| needs_judge(scorer, cases[**n])).count();
            let funded = units(&covered);
            let state = match funded {
                covered if covered < needed => ReachState::TooFewCases,
                covered if !has_judge && covered - rubrics < needed => ReachState::NeedsJudge,
                _ => ReachState::Decided,
            };
            if planned > 0 || claim.tier.is_some() {
                let gate = gate.id.value.clone();
                reached.push(GateReach { gate, slice, planned, funded, rubrics, needed, state });
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
