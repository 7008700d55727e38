//! Cost of stored runs, and savings by cache, deterministic tool answers and tiers. Spec 10.

use model::{Money, Workspace};
use std::collections::BTreeMap;

/// Cost of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunCost {
    pub tier: Option<u64>,
    /// Trials that ended.
    pub trials: u64,
    pub spent: Vec<SpendEntry>,
    pub cache_hits: u64,
    /// Tool answers of the deterministic world in trials with model calls.
    pub answered: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SpendEntry {
    pub case: Option<String>,
    pub subject: Option<String>,
    /// `subject`, `judge` or `user`.
    pub role: String,
    pub calls: u64,
    pub money: Money,
}

/// Number and cost of a group of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTotals {
    pub calls: u64,
    pub money: Money,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostReport {
    pub all: CallTotals,
    pub tiers: BTreeMap<Option<u64>, TierCost>,
    pub models: BTreeMap<String, CallTotals>,
    pub suites: BTreeMap<String, CallTotals>,
    pub saved: CostSavings,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TierCost {
    pub runs: u64,
    pub sum: CallTotals,
    pub max_run_cost: Money,
}

/// Savings, priced at the mean cost of a call in the same run, or in all runs if the run made no call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostSavings {
    pub cache_hits: u64,
    pub cache: Money,
    pub answers: u64,
    pub callbacks: Money,
    /// Runs of smaller tiers, and the additional cost of the largest tier in their place.
    pub events: u64,
    pub tiering: Money,
}

/// Tier that would run on every event without tiers.
const FULL_TIER: u64 = 4;

pub fn cost_report(workspace: &Workspace, runs: &[RunCost]) -> CostReport {
    let mut bill = CostReport::default();
    let usual = runs.iter().flat_map(|run| &run.spent).fold(CallTotals::default(), CallTotals::plus);
    for run in runs {
        let all = run.spent.iter().fold(CallTotals::default(), CallTotals::plus);
        bill.all = CallTotals { calls: bill.all.calls + all.calls, money: bill.all.money.saturating_add(all.money) };
        let tier = bill.tiers.entry(run.tier).or_default();
        tier.runs += 1;
        tier.sum = CallTotals { calls: tier.sum.calls + all.calls, money: tier.sum.money.saturating_add(all.money) };
        tier.max_run_cost = tier.max_run_cost.max(all.money);
        for spent in &run.spent {
            let model = bill.models.entry(model_name(workspace, spent)).or_default();
            *model = model.plus(spent);
            let suite = bill.suites.entry(suite_name(workspace, spent)).or_default();
            *suite = suite.plus(spent);
        }
        bill.saved.add(workspace, run, all, usual);
    }
    bill
}

impl CallTotals {
    fn plus(self, spent: &SpendEntry) -> Self {
        Self { calls: self.calls + spent.calls, money: self.money.saturating_add(spent.money) }
    }

    /// Returns the cost of this many calls at the mean price.
    fn cost_at_mean(self, calls: u64) -> Money {
        prorate(self.money, calls, self.calls)
    }
}

impl CostSavings {
    fn add(&mut self, workspace: &Workspace, run: &RunCost, all: CallTotals, usual: CallTotals) {
        let price = if all.calls == 0 { usual } else { all };
        self.cache_hits += run.cache_hits;
        self.cache = self.cache.saturating_add(price.cost_at_mean(run.cache_hits));
        self.answers += run.answered;
        self.callbacks = self.callbacks.saturating_add(price.cost_at_mean(run.answered));
        if run.tier.is_some_and(|tier| tier < FULL_TIER) {
            self.events += 1;
            let whole = prorate(all.money, full_tier_trials(workspace), run.trials);
            self.tiering = self.tiering.saturating_add(whole.saturating_sub(all.money));
        }
    }
}

fn prorate(money: Money, of: u64, by: u64) -> Money {
    if by == 0 {
        return Money::ZERO;
    }
    let exact = u128::from(money.as_nanos()) * u128::from(of) / u128::from(by);
    Money::from_nanos(u64::try_from(exact).unwrap_or(u64::MAX))
}

/// Number of trials of the largest tier for one subject.
fn full_tier_trials(workspace: &Workspace) -> u64 {
    let Some(tier) = workspace.tiers.tiers.iter().find(|tier| tier.tier == FULL_TIER) else { return 0 };
    workspace.cases().filter(|case| tier.suites.contains(&case.kind)).count() as u64 * tier.trials
}

fn model_name(workspace: &Workspace, spent: &SpendEntry) -> String {
    let subject = spent.subject.as_deref().unwrap_or("unknown");
    let model = workspace.subject(subject).and_then(|file| file.model.clone()).unwrap_or_else(|| subject.to_owned());
    if spent.role == "subject" { model } else { format!("{} of {model}", spent.role) }
}

fn suite_name(workspace: &Workspace, spent: &SpendEntry) -> String {
    let Some(case) = &spent.case else { return "unfinished trials".to_owned() };
    let found = workspace.suites.iter().find(|suite| suite.cases.iter().any(|one| *one.id == *case));
    found.map_or_else(|| "removed cases".to_owned(), |suite| suite.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::ExampleWorkspace;

    #[test]
    fn cost_report_splits_spending_and_prices_savings() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let spent = |case: &str, role: &str, calls, dollars| SpendEntry {
            case: Some(case.into()),
            subject: Some("reference".into()),
            role: role.into(),
            calls,
            money: Money::from_dollars(dollars),
        };
        let run = RunCost {
            tier: Some(2),
            trials: 2,
            spent: vec![spent("how_much_usdc", "subject", 6, 2), spent("sell_usdc_for_ether", "judge", 2, 2)],
            cache_hits: 4,
            answered: 10,
        };
        // The second run made no calls, all replies were cached, so its savings are priced by the first.
        let bill = cost_report(&workspace, &[run.clone(), RunCost { tier: None, spent: vec![], ..run }]);
        assert_eq!((bill.all.calls, bill.all.money), (8, Money::from_dollars(4)));
        assert_eq!(bill.tiers[&Some(2)].max_run_cost, Money::from_dollars(4));
        assert_eq!(bill.suites["tool_selection/trader"].money, Money::from_dollars(2));
        assert_eq!(bill.models["judge of reference"].calls, 2);
        assert_eq!((bill.saved.cache, bill.saved.callbacks), (Money::from_dollars(4), Money::from_dollars(10)), "0.50 USD per call");
        let whole = Money::from_dollars(2 * full_tier_trials(&workspace));
        assert_eq!((bill.saved.events, bill.saved.tiering), (1, whole.saturating_sub(Money::from_dollars(4))));
    }

    #[test]
    fn cost_report_of_free_runs_saves_nothing() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let bill = cost_report(&workspace, &[RunCost { tier: Some(3), trials: 9, answered: 40, ..RunCost::default() }]);
        assert_eq!((bill.saved.callbacks, bill.saved.tiering, bill.all.money), (Money::ZERO, Money::ZERO, Money::ZERO));
    }
}
