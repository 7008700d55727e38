//! Weighted aggregate of the assertions of a test, as promptfoo forms it: score, verdict and named scores.

use super::{AssertionMode, AssertionResult};
use indexmap::IndexMap;

/// Sum of results so far.
#[derive(Debug, Clone, Default)]
pub struct AssertionAggregate {
    mode: AssertionMode,
    total_score: f64,
    total_weight: f64,
    failed_reason: Option<String>,
    /// Weighted sum and weight of each metric.
    named: IndexMap<String, (f64, f64)>,
    blocked_by_guardrail: bool,
}

/// Result of a test, or of a set of assertions.
#[derive(Debug, Clone, PartialEq)]
pub struct AssertionTotals {
    pub pass: bool,
    pub score: f64,
    pub reason: String,
    /// Weighted mean of each metric, with its weight.
    pub named: IndexMap<String, (f64, f64)>,
}

impl AssertionAggregate {
    pub fn new(mode: AssertionMode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Adds a result. An assertion of weight 0 only reports a metric and never fails.
    pub fn add(&mut self, result: &AssertionResult, metric: Option<&str>, weight: f64) {
        self.total_score += result.score * weight;
        self.total_weight += weight;
        if let Some(metric) = metric.filter(|metric| !metric.is_empty()) {
            self.add_named(metric, result.score, weight);
        }
        if !result.pass && weight != 0.0 {
            self.failed_reason = Some(result.reason.clone());
        }
    }

    /// Adds a score to a metric.
    pub fn add_named(&mut self, metric: &str, score: f64, weight: f64) {
        let entry = self.named.entry(metric.to_owned()).or_default();
        entry.0 += score * weight;
        entry.1 += weight;
    }

    /// Notes a failed guardrail of a red team, which promptfoo counts as a pass of the test.
    pub fn guardrail_blocked(&mut self) {
        self.blocked_by_guardrail = true;
    }

    /// Returns the totals. With a threshold, promptfoo decides by the score alone; otherwise a failed assertion fails the test too.
    pub fn totals(&self, threshold: Option<f64>) -> AssertionTotals {
        let score = if self.total_weight > 0.0 { self.total_score / self.total_weight } else { 0.0 };
        let mut pass = self.failed_reason.is_none();
        let mut reason = self.failed_reason.clone().unwrap_or_else(|| "All assertions passed".to_owned());
        if let Some(threshold) = threshold.filter(|threshold| !threshold.is_nan()) {
            let reached = score >= threshold;
            let failed = self.mode == AssertionMode::Strict && !pass;
            if !failed {
                reason = format!("Aggregate score {score:.2} {} {threshold} threshold", if reached { "≥" } else { "<" });
            }
            pass = reached && !failed;
        }
        if self.blocked_by_guardrail && self.mode == AssertionMode::Compat {
            pass = true;
            reason = "Content failed guardrail safety checks".to_owned();
        }
        let mean = |(sum, weight): (f64, f64)| if weight > 0.0 { sum / weight } else { 0.0 };
        AssertionTotals {
            pass,
            score,
            reason,
            named: self.named.iter().map(|(name, sums)| (name.clone(), (mean(*sums), sums.1))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(pass: bool, score: f64) -> AssertionResult {
        AssertionResult { pass, score, reason: format!("{pass}") }
    }

    #[test]
    fn failed_assertion_is_averaged_away_only_in_compat() {
        let totals = |mode, threshold| {
            let mut aggregate = AssertionAggregate::new(mode);
            aggregate.add(&result(true, 1.0), Some("m"), 3.0);
            aggregate.add(&result(false, 0.0), Some("m"), 1.0);
            aggregate.totals(threshold)
        };
        let compat = totals(AssertionMode::Compat, Some(0.7));
        assert!(compat.pass && compat.score == 0.75 && compat.named["m"] == (0.75, 4.0));
        assert!(!totals(AssertionMode::Strict, Some(0.7)).pass);
        assert!(!totals(AssertionMode::Compat, Some(0.8)).pass && !totals(AssertionMode::Compat, None).pass);
    }

    #[test]
    fn weight_zero_never_fails() {
        let mut aggregate = AssertionAggregate::new(AssertionMode::Strict);
        aggregate.add(&result(false, 0.0), None, 0.0);
        assert_eq!((aggregate.totals(None).pass, aggregate.totals(None).score), (true, 0.0));
    }
}
