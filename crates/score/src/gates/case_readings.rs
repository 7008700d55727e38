//! Readings of one case by one scorer, over all its trials.

use crate::statistics::{CaseTally, CaseTrials};
use model::{GateAggregate, Reading};
use serde::{Deserialize, Serialize};

/// Kept as numbers without names, because a run has many of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub struct CaseReadings {
    pub hit: u64,
    pub of: u64,
    /// Trials with a tally, and those of them without a miss.
    trials: u64,
    clean: u64,
    /// Absent for most scorers, which tally.
    levels: Option<Box<LevelReadings>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct LevelReadings {
    count: u64,
    sum: f64,
    most: f64,
}

impl CaseReadings {
    /// Adds the reading of one trial. One that is not exercised or cannot be scored adds nothing.
    pub fn add(&mut self, reading: &Reading) {
        match reading {
            Reading::Tally { of: 0, .. } | Reading::Unscorable { .. } => {}
            Reading::Tally { hit, of } => {
                self.hit = self.hit.saturating_add(*hit);
                self.of = self.of.saturating_add(*of);
                self.trials += 1;
                self.clean += u64::from(hit == of);
            }
            Reading::Level(level) => match &mut self.levels {
                Some(levels) => {
                    levels.count += 1;
                    levels.sum += level;
                    levels.most = levels.most.max(*level);
                }
                None => self.levels = Some(Box::new(LevelReadings { count: 1, sum: *level, most: *level })),
            },
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
            GateAggregate::Max => self.levels.as_ref().map(|levels| levels.most),
            GateAggregate::Mean => self.levels.as_ref().map_or(rate, |levels| Some(levels.sum / levels.count as f64)),
            GateAggregate::PassHatK => self.all_pass(k),
        }
    }
}

impl From<CaseReadings> for Vec<u64> {
    fn from(readings: CaseReadings) -> Self {
        let CaseReadings { hit, of, trials, clean, levels } = readings;
        let mut numbers = vec![hit, of, trials, clean];
        if let Some(levels) = levels {
            let LevelReadings { count, sum, most } = *levels;
            // As bits, so that a level is read as it was.
            numbers.extend([count, sum.to_bits(), most.to_bits()]);
        }
        numbers
    }
}

impl From<Vec<u64>> for CaseReadings {
    fn from(numbers: Vec<u64>) -> Self {
        let at = |n: usize| numbers.get(n).copied().unwrap_or_default();
        let levels = LevelReadings { count: at(4), sum: f64::from_bits(at(5)), most: f64::from_bits(at(6)) };
        Self { hit: at(0), of: at(1), trials: at(2), clean: at(3), levels: (levels.count > 0).then(|| Box::new(levels)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_kept_to_the_last_bit() {
        let mut readings = CaseReadings::default();
        readings.add(&Reading::Tally { hit: 1, of: 3 });
        assert_eq!(serde_json::to_string(&readings).unwrap(), "[1,3,1,0]");
        for level in [0.1 + 0.2, 1e-300, -7.25] {
            readings.add(&Reading::Level(level));
        }
        let kept = serde_json::to_string(&readings).unwrap();
        assert_eq!(serde_json::from_str::<CaseReadings>(&kept).unwrap(), readings);
    }

    #[test]
    fn highest_level_of_a_case_does_not_depend_on_the_order() {
        let most = |levels: &[f64]| {
            let mut readings = CaseReadings::default();
            levels.iter().for_each(|level| readings.add(&Reading::Level(*level)));
            readings.value(GateAggregate::Max, None)
        };
        assert_eq!(most(&[3.0, 1.0, 2.0]), Some(3.0));
        assert_eq!(most(&[1.0, 3.0]), Some(3.0));
        assert_eq!(most(&[-2.0, -1.0]), Some(-1.0), "the first level is not compared with 0");
        assert_eq!(most(&[]), None);
    }
}
