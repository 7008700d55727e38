//! Most common causes of failed trials: tools taken for others, wrong arguments, broken rules.

use crate::scorers::{argument_of_reason, tools_of_reason};
use model::{Score, ScorerId, ScorerName};
use std::collections::{BTreeMap, BTreeSet};

/// Different causes of a kind that are counted; further ones are left out.
const MAX_CAUSES: usize = 10_000;

/// Tools that were called where others were expected, as the hit rate reports them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolConfusion {
    /// Empty if no tool was called.
    pub called: String,
    /// Empty if no tool fits the request.
    pub expected: String,
}

/// Cause of a failed trial, the most specific kind first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureCause {
    Tool(ToolConfusion),
    /// Name of an argument with a wrong value.
    Argument(String),
    /// Scorer of a rule that was broken.
    Rule(ScorerName),
}

/// Returns the causes in the scores of one trial, sorted. Each occurs once.
pub fn failure_causes(scores: &[Score]) -> BTreeSet<FailureCause> {
    let mut found = BTreeSet::new();
    for score in scores.iter().filter(|score| score.reading.is_violation()) {
        let reasons = || score.because.iter().map(|reason| reason.what.as_str());
        match score.scorer.known() {
            Some(ScorerId::Hit) => {
                found.extend(reasons().filter_map(tools_of_reason).map(|(called, expected)| {
                    FailureCause::Tool(ToolConfusion { called: called.to_owned(), expected: expected.to_owned() })
                }))
            }
            Some(ScorerId::ArgumentMatch | ScorerId::ParameterExtraction) => {
                found.extend(reasons().filter_map(argument_of_reason).map(|name| FailureCause::Argument(name.to_owned())));
            }
            Some(id) if !is_rule(id) => {}
            Some(_) | None => {
                found.insert(FailureCause::Rule(score.scorer.clone()));
            }
        }
    }
    found
}

/// Number of trials per cause. A trial may have several causes; each counts once per trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailureCauses {
    tools: BTreeMap<ToolConfusion, u64>,
    arguments: BTreeMap<String, u64>,
    rules: BTreeMap<ScorerName, u64>,
}

impl FailureCauses {
    /// Adds the scores of one trial.
    pub fn add(&mut self, scores: &[Score]) {
        for cause in failure_causes(scores) {
            match cause {
                FailureCause::Tool(tools) => count(&mut self.tools, tools),
                FailureCause::Argument(name) => count(&mut self.arguments, name),
                FailureCause::Rule(scorer) => count(&mut self.rules, scorer),
            }
        }
    }

    /// Returns tools taken for others, most frequent first.
    pub fn tools(&self) -> Vec<(&ToolConfusion, u64)> {
        ranked(&self.tools)
    }

    /// Returns names of arguments with wrong values, most frequent first.
    pub fn arguments(&self) -> Vec<(&str, u64)> {
        ranked(&self.arguments).into_iter().map(|(name, trials)| (name.as_str(), trials)).collect()
    }

    /// Returns scorers of rules that were broken, most frequent first.
    pub fn rules(&self) -> Vec<(&ScorerName, u64)> {
        ranked(&self.rules)
    }
}

/// Returns false for scorers that repeat what another one says, or that the other kinds cover.
fn is_rule(id: ScorerId) -> bool {
    !matches!(
        id,
        ScorerId::CasePass
            | ScorerId::Trajectory
            | ScorerId::SafetyVeto
            | ScorerId::Disambiguation
            | ScorerId::NoTool
            | ScorerId::ToolCallF1
            | ScorerId::ToolCallF1Multiset
            | ScorerId::ToolCallF1Ordered
    )
}

fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K) {
    if counts.len() < MAX_CAUSES || counts.contains_key(&key) {
        *counts.entry(key).or_default() += 1;
    }
}

fn ranked<K: Ord>(counts: &BTreeMap<K, u64>) -> Vec<(&K, u64)> {
    let mut ranked: Vec<(&K, u64)> = counts.iter().map(|(key, trials)| (key, *trials)).collect();
    ranked.sort_by_key(|(_, trials)| std::cmp::Reverse(*trials));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Reading, ScoreReason};

    fn missed(scorer: ScorerId, reasons: &[&str]) -> Score {
        let because = reasons.iter().map(|what| ScoreReason { event: None, what: (*what).to_owned() });
        Score::new(scorer, Reading::from_bool(false), because.collect())
    }

    #[test]
    fn causes_are_counted_once_per_trial_and_ranked() {
        let mut causes = FailureCauses::default();
        let amount = missed(ScorerId::ArgumentMatch, &["amount: expected \"1\", found \"2\"", "amount: expected \"3\", found \"4\""]);
        let other = missed(ScorerId::ParameterExtraction, &["amount: expected \"1\", found \"2\"", "chain: expected 1, found 10"]);
        causes.add(&[amount.clone(), other, missed(ScorerId::SafetyPipeline, &["x"]), missed(ScorerId::CasePass, &["y"])]);
        causes.add(&[amount, missed(ScorerId::Hit, &["called a; expected b"])]);
        assert_eq!(causes.arguments(), [("amount", 2), ("chain", 1)]);
        assert_eq!(causes.rules(), [(&ScorerName::from(ScorerId::SafetyPipeline), 1)]);
        assert_eq!(causes.tools(), [(&ToolConfusion { called: "a".into(), expected: "b".into() }, 1)]);
    }

    #[test]
    fn kept_expectations_are_no_cause() {
        let mut causes = FailureCauses::default();
        causes.add(&[Score::new(ScorerId::SafetyPipeline, Reading::from_bool(true), vec![])]);
        causes.add(&[Score::new(ScorerId::Hit, Reading::not_exercised(), vec![])]);
        assert_eq!(causes, FailureCauses::default());
    }
}
