//! What a scorer read off one transcript, and what many readings amount to.

use crate::gate::GateBound;
use crate::scorer::ScorerName;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Good over all. `of == 0` means: not exercised.
    Tally {
        hit: u64,
        of: u64,
    },
    Level(f64),
    /// The evidence cannot be read; never a pass.
    Unscorable {
        why: String,
    },
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

    /// Exercised and nothing missed.
    pub fn is_clean(&self) -> bool {
        match self {
            Reading::Tally { hit, of } => *of > 0 && hit == of,
            Reading::Level(_) => true,
            Reading::Unscorable { .. } => false,
        }
    }

    /// Exercised and something missed.
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
}

/// A reason, with the event it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreReason {
    pub event: Option<u32>,
    pub what: String,
}

/// The readings of one scorer over one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    pub scorer: ScorerName,
    pub slice: String,
    /// Absent when nothing was measured.
    pub value: Option<f64>,
    /// Wilson, both sides, 95 %.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Clopper–Pearson, both sides, 95 %: never too narrow, where Wilson may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactInterval>,
    pub n: u64,
    pub cases: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactInterval {
    pub low: f64,
    pub high: f64,
}

/// What a run without a single miss shows: failing more often than this is ruled out.
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

/// A gate judged on one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateResult {
    pub gate: String,
    pub subject: String,
    pub spec: String,
    pub metric: Metric,
    pub bound: GateBound,
    pub verdict: Verdict,
    /// Only for gates that allow no miss, where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_out: Option<FailureRateBound>,
    /// What is missing or wrong, for people.
    pub because: String,
    /// The worst cases, with the reason each counts against the gate.
    pub worst: Vec<WorstCase>,
}

/// All gates of a run: the judged ones, and the ids of those that its cases do not concern.
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
