//! Advice for a run whose budget did not cover every trial.

use crate::summary::RunSummary;
use model::{AbortCause, Money};
use run::{Budget, FundingGap};
use std::fmt;

/// Least budget that starts or continues a run, and the cost of the trials so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FundingAdvice {
    pub unfunded: u64,
    pub gap: FundingGap,
    /// Mean cost of the trials that finished, if any did.
    pub trial_cost: Option<Money>,
}

impl FundingAdvice {
    /// Returns the advice for a run that spent this amount; `None` if every trial was funded.
    pub fn for_run(budget: &Budget, summary: &RunSummary, spent: Money) -> Option<Self> {
        let unfunded = summary.outcomes.aborted_by(AbortCause::Unfunded);
        let gap = budget.funding_gap().filter(|_| unfunded > 0)?;
        let finished = summary.outcomes.finished();
        let trial_cost = spent.as_nanos().checked_div(finished).map(Money::from_nanos);
        Some(Self { unfunded, gap, trial_cost })
    }

    /// Returns the least budget that continues the run, rounded up to whole cents.
    pub fn least_budget(&self) -> Money {
        const NANOS_PER_CENT: u64 = 10_000_000;
        Money::from_nanos(self.gap.least_limit.as_nanos().div_ceil(NANOS_PER_CENT).saturating_mul(NANOS_PER_CENT))
    }
}

impl fmt::Display for FundingAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trials = model::count(self.unfunded, "trial");
        write!(f, "{trials} not funded: the cheapest call reserves {} USD, the most it can cost; ", self.gap.reserved)?;
        let step = if self.trial_cost.is_some() { "continue" } else { "start" };
        write!(f, "the run needs at least --budget {} to {step}", self.least_budget())?;
        match self.trial_cost {
            Some(cost) => write!(f, ", and a trial really cost {cost} USD so far"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_least_budget_and_the_real_cost() {
        let gap = FundingGap { reserved: Money::from_nanos(72_816_000), least_limit: Money::from_nanos(72_816_000) };
        let nothing = FundingAdvice { unfunded: 10, gap, trial_cost: None };
        assert_eq!(
            nothing.to_string(),
            "10 trials not funded: the cheapest call reserves 0.072816 USD, the most it can cost; the run needs at least --budget 0.08 to start"
        );
        let gap = FundingGap { least_limit: Money::from_nanos(90_000_000), ..gap };
        let some = FundingAdvice { unfunded: 1, gap, trial_cost: Some(Money::from_nanos(4_100_000)) };
        let end = "the run needs at least --budget 0.09 to continue, and a trial really cost 0.0041 USD so far";
        assert!(some.to_string().ends_with(end), "{some}");
    }
}
