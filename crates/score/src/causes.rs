//! Most common causes of failed trials: disorderly endings, tools taken for others, missing calls, wrong arguments, broken rules.

use crate::scorers::{argument_of_reason, tools_of_reason};
use model::{Ending, Score, ScorerId, ScorerName};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Different causes that are counted; further ones are left out.
const MAX_CAUSES: usize = 10_000;
/// Cases of a cause that are named.
const MAX_CASES: usize = 20;
/// Different rules of a cause that are counted: the first in the order of their names, for any order of trials.
const MAX_RULES: usize = 2_000;
/// Parts of an expectation whose reasons in `case_pass` say what is missing.
const MISSING_PARTS: [&str; 2] = ["calls: ", "ask: "];

/// Tools that were called where others were expected, as the hit rate reports them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolConfusion {
    /// Empty if no tool was called.
    pub called: String,
    /// Empty if no tool fits the request.
    pub expected: String,
}

/// Cause of a failed trial, the most specific kind first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// Kind of a disorderly ending.
    Ending(String),
    Tool(ToolConfusion),
    /// Expected call or question that is missing, or a call that the case does not allow.
    Missing(String),
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
            Some(ScorerId::CasePass) => found.extend(reasons().filter_map(missing_part).map(|what| FailureCause::Missing(what.to_owned()))),
            Some(id) if !is_rule(id) => {}
            Some(_) | None => {
                found.insert(FailureCause::Rule(score.scorer.clone()));
            }
        }
    }
    if found.is_empty() {
        found.extend(unnamed_cause(scores));
    }
    found
}

/// Returns the first reason of a failed case for which no kind of cause stands, such as that nothing was done or said.
fn unnamed_cause(scores: &[Score]) -> Option<FailureCause> {
    let missed = scores.iter().find(|score| score.scorer == ScorerId::CasePass && score.reading.is_violation())?;
    missed.because.first().map(|reason| FailureCause::Missing(reason.what.clone()))
}

/// Returns what `case_pass` says about missing calls and questions.
fn missing_part(reason: &str) -> Option<&str> {
    MISSING_PARTS.iter().find_map(|part| reason.strip_prefix(part))
}

/// Trials of one cause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseTrials {
    pub trials: u64,
    /// First cases in the order of their names.
    pub cases: BTreeSet<String>,
    /// Broken predicates, assertions, invariants and rules of cases, with the number of their trials. Not stored.
    #[serde(skip)]
    rules: BTreeMap<String, u64>,
    /// Reason of the first case in the order of names, for a wrong argument. Not stored.
    #[serde(skip)]
    example: Option<(String, String)>,
}

impl CauseTrials {
    fn add_case(&mut self, case: &str) {
        let Self { cases, .. } = self;
        // Independent of the order of trials.
        if !cases.contains(case) && (cases.len() < MAX_CASES || cases.last().is_some_and(|last| last.as_str() > case)) {
            cases.insert(case.to_owned());
            if cases.len() > MAX_CASES {
                cases.pop_last();
            }
        }
    }

    /// Keeps the reason of the first case, independent of the order of trials.
    fn add_example(&mut self, case: &str, reason: &str) {
        let new = (case.to_owned(), reason.to_owned());
        if self.example.as_ref().is_none_or(|kept| new < *kept) {
            self.example = Some(new);
        }
    }

    fn add_rule(&mut self, rule: &str) {
        // One of the first names is never removed, so its count is complete.
        *self.rules.entry(rule.to_owned()).or_default() += 1;
        if self.rules.len() > MAX_RULES {
            self.rules.pop_last();
        }
    }
}

/// Returns the predicates, assertions, invariants and rules of the case that a score says were broken. Each occurs once.
fn broken_rules(score: &Score) -> BTreeSet<&str> {
    let Some(id) = score.scorer.known() else { return BTreeSet::new() };
    score.because.iter().filter_map(|reason| rule_of_reason(id, &reason.what)).collect()
}

/// Returns the rule that a reason names before its colon; `None` for scorers without rules.
fn rule_of_reason(id: ScorerId, reason: &str) -> Option<&str> {
    let named = if matches!(id, ScorerId::Post | ScorerId::Assertions | ScorerId::BehavioralInvariants) {
        reason
    } else if matches!(id, ScorerId::Prohibitions | ScorerId::ToolOrdering) {
        reason.strip_prefix("rule of the case at ")?.split_once(", ")?.1
    } else {
        return None;
    };
    let (rule, _) = named.split_once(": ")?;
    // A colon within quotes is part of the rule, whose end is then unknown.
    (rule.matches('"').count() % 2 == 0).then_some(rule)
}

/// Number of trials per cause. A trial may have several causes; each counts once per trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(FailureCause, CauseTrials)>", into = "Vec<(FailureCause, CauseTrials)>")]
pub struct FailureCauses {
    found: BTreeMap<FailureCause, CauseTrials>,
}

impl From<Vec<(FailureCause, CauseTrials)>> for FailureCauses {
    fn from(found: Vec<(FailureCause, CauseTrials)>) -> Self {
        Self { found: found.into_iter().collect() }
    }
}

impl From<FailureCauses> for Vec<(FailureCause, CauseTrials)> {
    fn from(causes: FailureCauses) -> Self {
        causes.found.into_iter().collect()
    }
}

impl FailureCauses {
    /// Adds the scores and the ending of one trial of a case.
    pub fn add(&mut self, case: &str, scores: &[Score], ending: &Ending) {
        let ending = ending.fault_kind().map(|kind| FailureCause::Ending(kind.to_owned()));
        for cause in failure_causes(scores).into_iter().chain(ending) {
            if self.found.len() >= MAX_CAUSES && !self.found.contains_key(&cause) {
                continue;
            }
            let broken = match &cause {
                FailureCause::Rule(scorer) => scores.iter().find(|score| score.scorer == *scorer).map(broken_rules).unwrap_or_default(),
                FailureCause::Ending(_) | FailureCause::Tool(_) | FailureCause::Missing(_) | FailureCause::Argument(_) => BTreeSet::new(),
            };
            let example = wrong_value(&cause, scores);
            let found = self.found.entry(cause).or_default();
            found.trials += 1;
            found.add_case(case);
            broken.into_iter().for_each(|rule| found.add_rule(rule));
            example.into_iter().for_each(|reason| found.add_example(case, reason));
        }
    }

    /// Returns all causes with their trials, most frequent first.
    pub fn ranked(&self) -> Vec<(&FailureCause, &CauseTrials)> {
        let mut ranked: Vec<(&FailureCause, &CauseTrials)> = self.found.iter().collect();
        ranked.sort_by_key(|(_, found)| std::cmp::Reverse(found.trials));
        ranked
    }

    /// Returns disorderly endings, most frequent first.
    pub fn endings(&self) -> Vec<(&str, u64)> {
        self.of_kind(|cause| match cause {
            FailureCause::Ending(kind) => Some(kind.as_str()),
            FailureCause::Tool(_) | FailureCause::Missing(_) | FailureCause::Argument(_) | FailureCause::Rule(_) => None,
        })
    }

    /// Returns missing calls and questions, most frequent first.
    pub fn missing(&self) -> Vec<(&str, u64)> {
        self.of_kind(|cause| match cause {
            FailureCause::Missing(what) => Some(what.as_str()),
            FailureCause::Ending(_) | FailureCause::Tool(_) | FailureCause::Argument(_) | FailureCause::Rule(_) => None,
        })
    }

    /// Returns a wrong value of the most frequent argument, as its scorer says it.
    pub fn wrong_value(&self) -> Option<&str> {
        let is_argument = |cause: &FailureCause| matches!(cause, FailureCause::Argument(_));
        let (_, found) = self.ranked().into_iter().find(|(cause, _)| is_argument(cause))?;
        found.example.as_ref().map(|(_, reason)| reason.as_str())
    }

    /// Returns tools taken for others, or called where none fits, most frequent first.
    pub fn confused_tools(&self) -> Vec<(&ToolConfusion, u64)> {
        self.tools().into_iter().filter(|(tools, _)| !tools.called.is_empty()).collect()
    }

    /// Returns expected tools in place of which no tool was called, most frequent first.
    pub fn uncalled_tools(&self) -> Vec<(&str, u64)> {
        let uncalled = self.tools().into_iter().filter(|(tools, _)| tools.called.is_empty());
        uncalled.map(|(tools, trials)| (tools.expected.as_str(), trials)).collect()
    }

    /// Returns tools taken for others, or not called, most frequent first.
    pub fn tools(&self) -> Vec<(&ToolConfusion, u64)> {
        self.of_kind(|cause| match cause {
            FailureCause::Tool(tools) => Some(tools),
            FailureCause::Ending(_) | FailureCause::Missing(_) | FailureCause::Argument(_) | FailureCause::Rule(_) => None,
        })
    }

    /// Returns names of arguments with wrong values, most frequent first.
    pub fn arguments(&self) -> Vec<(&str, u64)> {
        self.of_kind(|cause| match cause {
            FailureCause::Argument(name) => Some(name.as_str()),
            FailureCause::Ending(_) | FailureCause::Tool(_) | FailureCause::Missing(_) | FailureCause::Rule(_) => None,
        })
    }

    /// Returns scorers of rules that were broken, most frequent first.
    pub fn rules(&self) -> Vec<(&ScorerName, u64)> {
        self.of_kind(|cause| match cause {
            FailureCause::Rule(scorer) => Some(scorer),
            FailureCause::Ending(_) | FailureCause::Tool(_) | FailureCause::Missing(_) | FailureCause::Argument(_) => None,
        })
    }

    /// Returns the predicates, assertions, invariants and rules of cases that were broken, most frequent first.
    pub fn broken_rules(&self) -> Vec<(&str, u64)> {
        let mut found: BTreeMap<&str, u64> = BTreeMap::new();
        for (rule, trials) in self.found.values().flat_map(|cause| &cause.rules) {
            *found.entry(rule).or_default() += trials;
        }
        let mut ranked: Vec<(&str, u64)> = found.into_iter().collect();
        ranked.sort_by_key(|(_, trials)| std::cmp::Reverse(*trials));
        ranked
    }

    fn of_kind<'c, T>(&'c self, kind: impl Fn(&'c FailureCause) -> Option<T>) -> Vec<(T, u64)> {
        self.ranked().into_iter().filter_map(|(cause, found)| Some((kind(cause)?, found.trials))).collect()
    }
}

/// Returns the reason for the wrong value of an argument.
fn wrong_value<'s>(cause: &FailureCause, scores: &'s [Score]) -> Option<&'s str> {
    let FailureCause::Argument(name) = cause else { return None };
    let missed = scores.iter().filter(|score| score.reading.is_violation());
    let mut reasons = missed.flat_map(|score| &score.because).map(|reason| reason.what.as_str());
    reasons.find(|reason| argument_of_reason(reason) == Some(name))
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
        causes.add(
            "a",
            &[amount.clone(), other, missed(ScorerId::SafetyPipeline, &["x"]), missed(ScorerId::CasePass, &["y"])],
            &Ending::Finished,
        );
        causes.add("a", &[amount, missed(ScorerId::Hit, &["called a; expected b"])], &Ending::Hung);
        assert_eq!(causes.endings(), [("hung", 1)]);
        assert_eq!(causes.arguments(), [("amount", 2), ("chain", 1)]);
        assert_eq!(causes.rules(), [(&ScorerName::from(ScorerId::SafetyPipeline), 1)]);
        assert_eq!(causes.tools(), [(&ToolConfusion { called: "a".into(), expected: "b".into() }, 1)]);
        let kept = serde_json::to_string(&causes).unwrap();
        let read: FailureCauses = serde_json::from_str(&kept).unwrap();
        assert_eq!((read.ranked().len(), serde_json::to_string(&read).unwrap()), (causes.ranked().len(), kept));
    }

    #[test]
    fn tools_taken_for_others_are_apart_from_calls_that_are_missing() {
        let mut causes = FailureCauses::default();
        for reason in [
            "no tool was called; expected b",
            "no tool was called; expected b",
            "called a; expected b",
            "called c; no tool fits the request",
        ] {
            causes.add("x", &[missed(ScorerId::Hit, &[reason])], &Ending::Finished);
        }
        let confused: Vec<(&str, &str)> =
            causes.confused_tools().iter().map(|(tools, _)| (tools.called.as_str(), tools.expected.as_str())).collect();
        assert_eq!((confused, causes.uncalled_tools()), (vec![("a", "b"), ("c", "")], vec![("b", 2)]));
    }

    #[test]
    fn missing_calls_and_wrong_values_are_named() {
        let mut causes = FailureCauses::default();
        let undone = missed(ScorerId::CasePass, &["calls: create_shipment was not called", "args: x", "ask: never asked for order_id"]);
        let carrier = |found: &str| missed(ScorerId::ArgumentMatch, &[&format!("carrier: expected \"DHL\", found \"{found}\"")]);
        causes.add("b", &[undone.clone(), carrier("UPS")], &Ending::Finished);
        causes.add("a", &[undone, carrier("FedEx")], &Ending::Finished);
        assert_eq!(causes.missing(), [("create_shipment was not called", 2), ("never asked for order_id", 2)]);
        assert_eq!(causes.arguments(), [("carrier", 2)]);
        assert_eq!(causes.wrong_value(), Some("carrier: expected \"DHL\", found \"FedEx\""), "of the first case by name");
        assert_eq!(causes.rules(), []);
    }

    #[test]
    fn failure_without_a_kind_has_the_reason_of_its_case() {
        let mut causes = FailureCauses::default();
        let idle = || missed(ScorerId::CasePass, &["no agent acted and nothing was said"]);
        causes.add("a", &[idle()], &Ending::Finished);
        causes.add(
            "b",
            &[idle(), missed(ScorerId::SafetyPipeline, &["x"])],
            &Ending::OverLimit { limit: model::transcript::LimitKind::Output },
        );
        assert_eq!(causes.missing(), [("no agent acted and nothing was said", 1)], "only where nothing else is named");
        assert_eq!(causes.endings(), [("over the limit of output", 1)]);
    }

    #[test]
    fn broken_rules_are_named_by_their_predicate() {
        let mut causes = FailureCauses::default();
        let post =
            missed(ScorerId::Post, &["balance(self, USDC) increased on base: unchanged at 5000", "allowance(a, USDC) == 0: it is 3"]);
        let other = missed(ScorerId::Post, &["balance(self, USDC) increased on base: unchanged at 7"]);
        let ordering = "rule of the case at suites/a.yaml:12, before(read, write): write had no read before it";
        let ordering = missed(ScorerId::ToolOrdering, &[ordering, "trader: step validate is out of order"]);
        let quoted = missed(ScorerId::Assertions, &["regex \"a: b\": no match", "is-json: not JSON"]);
        causes.add("a", &[post, ordering, missed(ScorerId::OutputFormat, &["x: y"])], &Ending::Finished);
        causes.add("b", &[other, quoted], &Ending::Finished);
        let rules =
            [("balance(self, USDC) increased on base", 2), ("allowance(a, USDC) == 0", 1), ("before(read, write)", 1), ("is-json", 1)];
        assert_eq!(causes.broken_rules(), rules);
        assert_eq!(serde_json::to_value(&causes).unwrap()[0][1].as_object().unwrap().len(), 2, "rules are not stored");
    }

    #[test]
    fn named_cases_do_not_depend_on_the_order_of_trials() {
        let missed = [missed(ScorerId::SafetyPipeline, &["x"])];
        let mut ids: Vec<String> = (0..50).map(|n| format!("case_{n:02}")).collect();
        let causes = |ids: &[String]| {
            let mut causes = FailureCauses::default();
            ids.iter().for_each(|id| causes.add(id, &missed, &Ending::Refused));
            causes
        };
        let forward = causes(&ids);
        ids.reverse();
        assert_eq!(forward, causes(&ids));
        let (_, found) = forward.ranked()[0];
        assert_eq!((found.trials, found.cases.len(), found.cases.first().map(String::as_str)), (50, MAX_CASES, Some("case_00")));
    }

    #[test]
    fn kept_expectations_are_no_cause() {
        let mut causes = FailureCauses::default();
        causes.add("a", &[Score::new(ScorerId::SafetyPipeline, Reading::from_bool(true), vec![])], &Ending::Finished);
        causes.add("a", &[Score::new(ScorerId::Hit, Reading::not_exercised(), vec![])], &Ending::Finished);
        assert_eq!(causes, FailureCauses::default());
    }
}
