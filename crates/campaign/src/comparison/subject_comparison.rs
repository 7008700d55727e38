//! Result of a comparison of two sides.

use super::side_facts::{ComparedSide, SideFacts};
use score::pairing::{ChangeVerdict, RunComparison, RunNoise, compare_sides};

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

    /// Returns whether the comparison lacks evidence: no pairs, too few of them, or cases without a result or with trials that did not run.
    pub fn is_incomplete(&self) -> bool {
        self.result.cases.verdict == ChangeVerdict::NotEnoughData || self.lacks_results()
    }

    /// Returns whether nothing could be paired, or cases lack results or trials on a side. Enough to name each case that got worse.
    pub fn lacks_results(&self) -> bool {
        self.result.cases.counts.paired() == 0 || !self.result.without_result.is_empty() || !self.result.unplayed.is_empty()
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
