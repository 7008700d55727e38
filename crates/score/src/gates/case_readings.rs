//! Readings of one case by one scorer, over all its trials.

use crate::statistics::{CaseTally, CaseTrials};
use model::{GateAggregate, Reading};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CaseReadings {
    pub hit: u64,
    pub of: u64,
    /// Trials with a tally, and those of them without a miss.
    trials: u64,
    clean: u64,
    levels: u64,
    level_sum: f64,
    level_most: f64,
}

impl CaseReadings {
    /// Adds the reading of one trial. One that is not exercised or cannot be scored adds nothing.
    pub fn add(&mut self, reading: &Reading) {
        match reading {
            Reading::Tally { of: 0, .. } | Reading::Unscorable { .. } => {}
            Reading::Tally { hit, of } => {
                self.hit += hit;
                self.of += of;
                self.trials += 1;
                self.clean += u64::from(hit == of);
            }
            Reading::Level(level) => {
                self.level_most = if self.levels == 0 { *level } else { self.level_most.max(*level) };
                self.levels += 1;
                self.level_sum += level;
            }
        }
    }

    pub(super) fn tally(&self) -> CaseTally {
        CaseTally { hit: self.hit as f64, of: self.of as f64 }
    }

    /// Returns the chance that `k` trials all pass; all trials if no number is given.
    pub(super) fn all_pass(&self, k: Option<u64>) -> Option<f64> {
        CaseTrials { passed: self.clean, trials: self.trials }.all_pass(k.unwrap_or(self.trials))
    }

    /// Returns the value of the case for an aggregate.
    pub fn value(&self, aggregate: GateAggregate, k: Option<u64>) -> Option<f64> {
        let rate = (self.of > 0).then(|| self.hit as f64 / self.of as f64);
        match aggregate {
            GateAggregate::Rate => rate,
            GateAggregate::MissRate => rate.map(|rate| 1.0 - rate),
            GateAggregate::Misses => (self.of > 0).then(|| (self.of - self.hit) as f64),
            GateAggregate::Max => (self.levels > 0).then_some(self.level_most),
            GateAggregate::Mean if self.levels > 0 => Some(self.level_sum / self.levels as f64),
            GateAggregate::Mean => rate,
            GateAggregate::PassHatK => self.all_pass(k),
        }
    }
}
