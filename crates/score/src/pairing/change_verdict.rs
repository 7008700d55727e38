//! Verdict on paired cases: regression, improvement, tied or not enough data.

use crate::statistics::mcnemar_exact;

/// Family-wise error of the verdicts of one comparison.
pub(super) const ALPHA: f64 = 0.05;

/// Drop of the rate that a comparison must be able to show before it says "tied".
const NOTICED_DROP: f64 = 0.2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeVerdict {
    Regression,
    Improvement,
    /// No difference beyond chance, where a drop of 20 points would have shown.
    Tied,
    NotEnoughData,
}

impl ChangeVerdict {
    pub fn word(self) -> &'static str {
        match self {
            ChangeVerdict::Regression => "regression",
            ChangeVerdict::Improvement => "improvement",
            ChangeVerdict::Tied => "tied",
            ChangeVerdict::NotEnoughData => "not enough data",
        }
    }
}

/// Source of differences between equal subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunNoise {
    /// Both subjects answer the same every time, so every difference is real.
    None,
    /// A subject samples its answers, or may do so.
    Sampled,
}

/// Number of paired cases by direction of change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairCounts {
    pub better: u64,
    pub worse: u64,
    pub same: u64,
}

impl PairCounts {
    pub(super) fn add(&mut self, before: f64, after: f64) {
        // Rates of different numbers of trials may differ in their last bit.
        match after - before {
            change if change > 1e-9 => self.better += 1,
            change if change < -1e-9 => self.worse += 1,
            _ => self.same += 1,
        }
    }

    pub fn paired(self) -> u64 {
        self.better + self.worse + self.same
    }

    /// Returns the p-value of the exact test.
    pub fn p_value(self) -> f64 {
        mcnemar_exact(self.better, self.worse)
    }

    /// Returns whether the test could find anything at all in this many changed cases. Others do not count in the correction for many
    /// tests, since they cannot be found by chance either.
    pub(super) fn is_testable(self) -> bool {
        mcnemar_exact(0, self.better + self.worse) < ALPHA
    }

    /// Returns whether a drop of 20 points, on top of the changes seen, would have been found.
    pub fn would_show_drop(self) -> bool {
        let paired = self.paired();
        let dropped = (paired as f64 * NOTICED_DROP).ceil() as u64;
        let calm = self.better.min(self.worse);
        paired > 0 && mcnemar_exact(calm, calm + dropped) < ALPHA
    }

    /// Returns the number of paired cases that would show such a drop, with changes as frequent as those seen.
    pub fn cases_needed(self) -> u64 {
        let paired = self.paired().max(1);
        let calm = self.better.min(self.worse) as f64 / paired as f64;
        let shows = |cases: u64| {
            let calm = (cases as f64 * calm).round() as u64;
            mcnemar_exact(calm, calm + (cases as f64 * NOTICED_DROP).ceil() as u64) < ALPHA
        };
        (paired..100_000).find(|cases| shows(*cases)).unwrap_or(100_000)
    }
}

/// Evidence about one slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairEvidence {
    pub counts: PairCounts,
    /// p-value, adjusted for all slices of the comparison.
    pub adjusted: f64,
    /// Mean change of the cases; positive is better.
    pub mean_change: f64,
    /// The gate allows no miss, was met before, and is missed or has no evidence now.
    pub is_first_miss: bool,
}

pub(super) fn change_verdict(evidence: PairEvidence, noise: RunNoise) -> ChangeVerdict {
    let PairEvidence { counts, adjusted, mean_change, is_first_miss } = evidence;
    let by_direction = |is_worse: bool| if is_worse { ChangeVerdict::Regression } else { ChangeVerdict::Improvement };
    match noise {
        RunNoise::None | RunNoise::Sampled if is_first_miss => ChangeVerdict::Regression,
        RunNoise::None | RunNoise::Sampled if counts.paired() == 0 => ChangeVerdict::NotEnoughData,
        RunNoise::None if mean_change.abs() > 1e-9 => by_direction(mean_change < 0.0),
        RunNoise::None => ChangeVerdict::Tied,
        RunNoise::Sampled if adjusted < ALPHA => by_direction(counts.worse > counts.better),
        RunNoise::Sampled if counts.would_show_drop() => ChangeVerdict::Tied,
        RunNoise::Sampled => ChangeVerdict::NotEnoughData,
    }
}
