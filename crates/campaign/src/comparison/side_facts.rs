//! One side of a comparison: facts about it and its readings.

use model::Money;
use score::pairing::{RunNoise, RunSide};
use std::time::Duration;

/// Side with its readings.
#[derive(Debug)]
pub struct ComparedSide<'w> {
    pub facts: SideFacts,
    pub readings: RunSide<'w>,
}

/// Origin of a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideSource {
    /// Short id of a run; absent if it is not stored.
    Run(Option<String>),
    Golden,
    /// Name of a file with results of another framework.
    File(String),
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
    /// Planned trials of an unfinished run that have not run.
    pub unplayed: u64,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_needs_trials_and_a_sum() {
        let mean = |dollars, seconds, trials| {
            let (spent, wall) = (Money::from_dollars(dollars), Duration::from_secs(seconds));
            let (source, subject, noise) = (SideSource::Golden, "a".to_owned(), RunNoise::None);
            let facts = SideFacts { source, subject, noise, trials, gone: 0, unplayed: 0, spent, wall };
            (facts.usd_per_trial(), facts.seconds_per_trial())
        };
        assert_eq!(mean(3, 9, 2), (Some(1.5), Some(4.5)));
        assert_eq!(mean(0, 9, 2), (None, Some(4.5)));
        assert_eq!(mean(3, 0, 2), (Some(1.5), None));
        assert_eq!(mean(3, 9, 0), (None, None));
    }
}
