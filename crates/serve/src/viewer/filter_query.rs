//! From the query of an address to a filter of the store.

use crate::pages::FilterQuery;
use model::Workspace;
use store::{SearchTerms, StoredOutcome, TrialFilter};

/// Characters of a value in the query.
const MAX_VALUE_CHARS: usize = 500;
const NANOS_PER_DOLLAR: f64 = 1e9;
const MICROS_PER_MS: f64 = 1e3;

/// Returns the query with all values cut to a bound.
pub(super) fn bounded(query: FilterQuery) -> FilterQuery {
    let cut = |text: String| text.trim().chars().take(MAX_VALUE_CHARS).collect::<String>();
    FilterQuery {
        q: cut(query.q),
        case: cut(query.case),
        subject: cut(query.subject),
        outcome: cut(query.outcome),
        scorer: cut(query.scorer),
        tool: cut(query.tool),
        suite: cut(query.suite),
        tag: cut(query.tag),
        min_usd: cut(query.min_usd),
        max_usd: cut(query.max_usd),
        min_ms: cut(query.min_ms),
        max_ms: cut(query.max_ms),
    }
}

/// Returns the filter; suite and tag choose cases of the workspace.
pub(super) fn trial_filter(query: &FilterQuery, workspace: &Workspace) -> TrialFilter {
    let (suite, tag) = (query.suite.as_str(), query.tag.as_str());
    let suites = workspace.suites.iter().filter(|one| suite.is_empty() || one.name == suite || one.name.starts_with(&format!("{suite}/")));
    let cases = suites.flat_map(|one| &one.cases).filter(|case| tag.is_empty() || case.tags.iter().any(|own| own == tag));
    let cases = (!suite.is_empty() || !tag.is_empty()).then(|| cases.map(|case| case.id.value.clone()).collect());
    TrialFilter {
        case: query.case.clone(),
        subject: query.subject.clone(),
        outcome: StoredOutcome::parse(&query.outcome),
        terms: SearchTerms { text: query.q.clone(), tool: query.tool.clone(), scorer: query.scorer.clone() },
        least_cost: scaled(&query.min_usd, NANOS_PER_DOLLAR),
        most_cost: scaled(&query.max_usd, NANOS_PER_DOLLAR),
        least_us: scaled(&query.min_ms, MICROS_PER_MS),
        most_us: scaled(&query.max_ms, MICROS_PER_MS),
        cases,
    }
}

/// Returns a bound in units of the store; nothing for a text that is not a number.
fn scaled(text: &str, factor: f64) -> Option<u64> {
    let value: f64 = text.replace(',', ".").parse().ok()?;
    (value.is_finite() && value >= 0.0).then(|| (value * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_bounds_of_the_store() {
        assert_eq!(scaled("0.5", NANOS_PER_DOLLAR), Some(500_000_000));
        assert_eq!(scaled("1,5", MICROS_PER_MS), Some(1_500));
        for text in ["", "x", "-1", "NaN", "inf"] {
            assert_eq!(scaled(text, 1.0), None, "{text}");
        }
    }

    #[test]
    fn values_are_cut() {
        let query = FilterQuery { q: format!("  {}", "a".repeat(900)), ..FilterQuery::default() };
        assert_eq!(bounded(query).q.len(), MAX_VALUE_CHARS);
    }
}
