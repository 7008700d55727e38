//! Expected number of model calls, their duration and their likely cost.

use super::quote::{ASSUMED_CALL_S, ASSUMED_CONCURRENCY, TrialQuote};
use model::Money;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostEstimate {
    /// Model calls, including `judge_calls`.
    pub calls: u64,
    pub judge_calls: u64,
    /// Duration with eight concurrent calls of three seconds each.
    pub seconds: u64,
    /// Cost at the prices of the subject files; `None` if a price is unknown.
    pub likely: Option<Money>,
}

/// Sums up the quotes of a run with `trials` trials per case.
pub fn estimate_cost(quotes: &[TrialQuote], trials: u64) -> CostEstimate {
    let sum = |of: fn(&TrialQuote) -> u64| quotes.iter().map(of).sum::<u64>() * trials;
    let calls = sum(|quote| quote.calls);
    let likely: Money = (0..trials).flat_map(|_| quotes).map(|quote| quote.likely).sum();
    CostEstimate {
        calls,
        judge_calls: sum(|quote| quote.judge_calls),
        seconds: calls.div_ceil(ASSUMED_CONCURRENCY) * ASSUMED_CALL_S,
        likely: (!quotes.iter().any(|quote| quote.unpriced)).then_some(likely),
    }
}

#[cfg(test)]
mod tests {
    use super::super::quote::{LiveModels, trial_quotes};
    use super::*;
    use model::suite::Case;
    use model::{ProviderKind, SubjectFile};
    use score::example::ExampleWorkspace;

    #[test]
    fn estimate_counts_calls_of_live_models_only() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let cases: Vec<&Case> = workspace.cases().collect();
        let reference = workspace.subject("reference").expect("a subject");
        let estimated = |subject: &SubjectFile, asking: &LiveModels<'_>| {
            estimate_cost(&trial_quotes(&workspace, &cases, &[subject], asking), asking.trials)
        };
        let live = LiveModels { subjects: true, judge: None, attacker: None, trials: 2 };
        assert_eq!(estimated(reference, &live), CostEstimate { likely: Some(Money::ZERO), ..CostEstimate::default() });
        let model = SubjectFile { provider: ProviderKind::Ollama, ..reference.clone() };
        let found = estimated(&model, &live);
        assert!(found.calls > 2 * cases.len() as u64 && found.likely.is_none(), "{found:?}");
        assert_eq!(found.seconds, found.calls.div_ceil(8) * 3);
        let replayed = LiveModels { subjects: false, judge: Some(&model), attacker: None, trials: 2 };
        assert_eq!(estimated(&model, &replayed).calls, 0, "no case has a rubric");
    }
}
