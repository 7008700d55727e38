//! Readings of scorers on transcripts, and metrics and gate results computed from them.

use crate::gate::GateBound;
use crate::scorer::ScorerName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Hits out of a total. `of == 0` means not exercised.
    Tally { hit: u64, of: u64 },
    /// Measured number without a pass or a miss, such as a delegation depth.
    Level(f64),
    /// The transcript cannot be scored. Never counts as a pass.
    Unscorable { why: String },
}

impl Reading {
    pub fn not_exercised() -> Self {
        Reading::Tally { hit: 0, of: 0 }
    }

    pub fn from_bool(good: bool) -> Self {
        Reading::Tally { hit: u64::from(good), of: 1 }
    }

    pub fn is_exercised(&self) -> bool {
        match self {
            Reading::Tally { of, .. } => *of > 0,
            Reading::Level(_) => true,
            Reading::Unscorable { .. } => false,
        }
    }

    /// Returns whether the scorer was exercised without a miss.
    pub fn is_clean(&self) -> bool {
        match self {
            Reading::Tally { hit, of } => *of > 0 && hit == of,
            Reading::Level(_) => true,
            Reading::Unscorable { .. } => false,
        }
    }

    /// Returns whether the scorer was exercised with a miss.
    pub fn is_violation(&self) -> bool {
        match self {
            Reading::Tally { hit, of } => hit < of,
            Reading::Level(_) | Reading::Unscorable { .. } => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    pub scorer: ScorerName,
    pub reading: Reading,
    pub because: Vec<ScoreReason>,
    /// The same reading, divided among the agents that acted. Empty if the scorer does not tell agents apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_agent: BTreeMap<String, Reading>,
}

impl Score {
    pub fn new(scorer: impl Into<ScorerName>, reading: Reading, because: Vec<ScoreReason>) -> Self {
        Self { scorer: scorer.into(), reading, because, by_agent: BTreeMap::new() }
    }

    /// Returns all reasons as one text. A reason that is given several times is written once, with the count.
    pub fn reasons(&self) -> String {
        let mut counted: Vec<(&str, usize)> = vec![];
        for reason in &self.because {
            match counted.iter_mut().find(|(what, _)| *what == reason.what) {
                Some((_, count)) => *count += 1,
                None => counted.push((&reason.what, 1)),
            }
        }
        let texts = counted.into_iter().map(|(what, count)| if count == 1 { what.to_owned() } else { format!("{what} ({count} times)") });
        texts.collect::<Vec<_>>().join("; ")
    }
}

/// Reason for a score, with the number of the event that shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreReason {
    pub event: Option<u32>,
    pub what: String,
}

/// Aggregated readings of one scorer over one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    pub scorer: ScorerName,
    pub slice: String,
    /// Absent without a measurement.
    pub value: Option<f64>,
    /// Wilson interval, two-sided, 95 %; the exact one over the effective observations where readings of one case repeat.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Clopper–Pearson interval, two-sided, 95 %, over the effective observations. Unlike Wilson never too narrow, as far as the effective number is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactInterval>,
    /// Sum of tally totals, or number of levels.
    pub n: u64,
    /// Independent observations that the readings are worth, where readings of one case repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_n: Option<f64>,
    /// Number of cases that contributed.
    pub cases: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactInterval {
    pub low: f64,
    pub high: f64,
}

/// Upper bound of the failure rate, from a run without a miss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureRateBound {
    pub failure_rate: f64,
    pub confidence: f64,
    /// Distinct cases; identical transcripts count once.
    pub n: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Met,
    Missed,
    NoEvidence,
}

/// Result of a gate on one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateResult {
    pub gate: String,
    pub subject: String,
    pub spec: String,
    pub metric: Metric,
    pub bound: GateBound,
    pub verdict: Verdict,
    /// Failure rate that the run rules out. Present for zero-tolerance gates without a miss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_out: Option<FailureRateBound>,
    /// Explanation for reports.
    pub because: String,
    /// Worst cases, with the reason each counts against the gate.
    pub worst: Vec<WorstCase>,
}

/// Results of the gates of a run, and the ids of gates without any of its cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateVerdicts {
    pub judgements: Vec<GateResult>,
    pub out_of_scope: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorstCase {
    pub case: String,
    pub trial: String,
    pub because: String,
}

#[cfg(test)]
mod tests {
    use super::{Reading, Score, ScoreReason};
    use crate::ScorerId;

    #[test]
    fn repeated_reasons_are_counted() {
        let because = ["a", "b", "a"].map(|what| ScoreReason { event: None, what: what.to_owned() });
        let score = |because: &[ScoreReason]| Score::new(ScorerId::Hit, Reading::not_exercised(), because.to_vec());
        assert_eq!(score(&because).reasons(), "a (2 times); b");
        assert_eq!(score(&[]).reasons(), "");
    }
}
