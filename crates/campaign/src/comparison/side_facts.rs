//! Facts about the sides of a comparison, and its result.

use super::stored_side::ComparedSide;
use model::Money;
use score::pairing::{ChangeVerdict, FlipDirection, RunComparison, RunNoise, compare_sides};
use std::time::Duration;

/// Origin of a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideSource {
    /// Short id of a run; absent if it is not stored.
    Run(Option<String>),
    Golden,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SideFacts {
    pub source: SideSource,
    pub subject: String,
    pub noise: RunNoise,
    /// Trials that ended.
    pub trials: u64,
    /// Trials of cases that are no longer in the workspace.
    pub gone: u64,
    pub spent: Money,
    /// Time of all trials together.
    pub wall: Duration,
}

impl SideFacts {
    /// Returns the cost of a trial in US dollars, if models were paid.
    pub fn usd_per_trial(&self) -> Option<f64> {
        (self.spent > Money::ZERO && self.trials > 0).then(|| self.spent.as_usd() / self.trials as f64)
    }

    /// Returns the mean time of a trial; baselines have none.
    pub fn seconds_per_trial(&self) -> Option<f64> {
        (self.wall > Duration::ZERO && self.trials > 0).then(|| self.wall.as_secs_f64() / self.trials as f64)
    }
}

/// One subject compared with another, or with itself in an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectComparison {
    pub before: SideFacts,
    pub after: SideFacts,
    pub noise: RunNoise,
    pub result: RunComparison,
}

impl SubjectComparison {
    pub fn has_regression(&self) -> bool {
        self.result.slices.iter().chain([&self.result.cases]).any(|slice| slice.verdict == ChangeVerdict::Regression)
    }

    /// Returns the number of cases whose pass rate changed in a direction.
    pub fn flipped(&self, direction: FlipDirection) -> usize {
        self.result.flips.iter().filter(|group| group.direction == direction).map(|group| group.cases.len()).sum()
    }

    /// Returns whether the comparison lacks evidence: no pairs, too few of them, or cases without a result.
    pub fn is_incomplete(&self) -> bool {
        self.result.cases.verdict == ChangeVerdict::NotEnoughData || !self.result.without_result.is_empty()
    }
}

/// Compares two sides, paired by case.
pub fn compare_subjects(before: &ComparedSide<'_>, after: &ComparedSide<'_>) -> SubjectComparison {
    let noise = match (before.facts.noise, after.facts.noise) {
        (RunNoise::None, RunNoise::None) => RunNoise::None,
        (RunNoise::None | RunNoise::Sampled, RunNoise::None | RunNoise::Sampled) => RunNoise::Sampled,
    };
    let result = compare_sides(&before.readings, &after.readings, noise);
    SubjectComparison { before: before.facts.clone(), after: after.facts.clone(), noise, result }
}
