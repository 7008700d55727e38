//! Pooled readings of a slice. Independent of the order of trials.

use super::case_readings::CaseReadings;
use crate::statistics::{CaseTally, ClusteredRate};
use model::{ContentHash, ExactInterval, Gate, GateAggregate, GateBound, Reading, Score, WorstCase};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(super) struct ReadingPool {
    pub hit: u64,
    pub of: u64,
    pub aborted: usize,
    /// Cases of the slice whose trials were all added.
    pub ended_cases: usize,
    /// A trial concerned this slice or exercised it.
    pub touched: bool,
    unscorable: BTreeSet<String>,
    more_unscorable: usize,
    levels: LevelSum,
    /// Rate of each trial with a tally.
    rates: LevelSum,
    /// By number of the case.
    cases: BTreeMap<usize, CaseReadings>,
    /// First half of the hash of each content, which tells them apart at half the memory.
    contents: BTreeSet<u128>,
    /// Every trial had a content hash.
    contents_known: bool,
    worst: Vec<(f64, WorstCase)>,
    bound: GateBound,
    /// Trials that must pass together, if the gate names a number.
    k: Option<u64>,
}

/// Trial of one reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolTrial<'a> {
    pub trial: &'a ContentHash,
    pub case: &'a str,
    /// Number of the case.
    pub number: usize,
    pub content: Option<&'a ContentHash>,
    /// Maximum contents kept. The smaller of cases and contents counts, so more cannot matter.
    pub most_cases: usize,
}

/// Maximum worst cases kept.
const MAX_WORST: usize = 3;
/// Maximum reasons of unscorable readings kept.
const MAX_UNSCORABLE: usize = 20;

impl ReadingPool {
    pub(super) fn new(gate: &Gate) -> Self {
        Self {
            hit: 0,
            of: 0,
            aborted: 0,
            ended_cases: 0,
            touched: false,
            unscorable: BTreeSet::new(),
            more_unscorable: 0,
            levels: LevelSum::default(),
            rates: LevelSum::default(),
            cases: BTreeMap::new(),
            contents: BTreeSet::new(),
            contents_known: true,
            worst: vec![],
            bound: gate.bound,
            k: gate.k,
        }
    }

    pub(super) fn add(&mut self, trial: PoolTrial<'_>, score: &Score) {
        match &score.reading {
            Reading::Tally { of: 0, .. } => return,
            Reading::Tally { hit, of } => {
                let (Some(hits), Some(total)) = (self.hit.checked_add(*hit), self.of.checked_add(*of)) else {
                    return self.add_unscorable(format!("{}: its counts are too large", trial.case));
                };
                (self.hit, self.of) = (hits, total);
                let rate = *hit as f64 / *of as f64;
                self.rates.add(rate);
                if hit < of {
                    self.keep_worst(rate, trial, score);
                }
            }
            Reading::Level(level) if level.is_finite() => {
                // A stored level may differ in its last bit after parsing; it must count the same.
                let level = &round(*level);
                self.levels.add(*level);
                // The bound decides whether low or high levels are worse. A level within the bound is not a bad case.
                match self.bound {
                    GateBound::AtLeast(_) if !self.bound.holds(*level) => self.keep_worst(*level, trial, score),
                    GateBound::AtMost(_) if !self.bound.holds(*level) => self.keep_worst(-level, trial, score),
                    GateBound::AtLeast(_) | GateBound::AtMost(_) => {}
                }
            }
            Reading::Level(level) => return self.add_unscorable(format!("{}: invalid level {level}", trial.case)),
            Reading::Unscorable { why } => return self.add_unscorable(format!("{}: {why}", trial.case)),
        }
        self.cases.entry(trial.number).or_default().add(&score.reading);
        match trial.content {
            Some(content) if self.contents.len() < trial.most_cases => {
                self.contents.insert(content.first_half());
            }
            Some(_) => {}
            None => self.contents_known = false,
        }
    }

    /// Keeps the first reasons in text order, independent of the order of trials.
    fn add_unscorable(&mut self, why: String) {
        self.unscorable.insert(why);
        if self.unscorable.len() > MAX_UNSCORABLE {
            self.unscorable.pop_last();
            self.more_unscorable += 1;
        }
    }

    fn keep_worst(&mut self, rank: f64, trial: PoolTrial<'_>, score: &Score) {
        let key = (rank, trial.case, trial.trial.short());
        let worse = |(a, left): &(f64, WorstCase)| {
            a.total_cmp(&key.0).then_with(|| left.case.as_str().cmp(key.1)).then_with(|| left.trial.as_str().cmp(key.2))
        };
        let at = self.worst.partition_point(|one| worse(one).is_le());
        if at >= MAX_WORST {
            return;
        }
        let because = score.reasons();
        self.worst.insert(at, (rank, WorstCase { case: trial.case.to_owned(), trial: trial.trial.short().to_owned(), because }));
        self.worst.truncate(MAX_WORST);
    }

    /// Returns the number of cases that contribute to an aggregate.
    pub(super) fn cases(&self, aggregate: GateAggregate) -> usize {
        match aggregate {
            GateAggregate::PassHatK => self.all_pass().count(),
            GateAggregate::Rate | GateAggregate::MissRate | GateAggregate::Misses | GateAggregate::Max | GateAggregate::Mean => {
                self.cases.len()
            }
        }
    }

    /// Returns the readings by number of the case.
    pub(super) fn case_readings(&self) -> impl Iterator<Item = (usize, &CaseReadings)> {
        self.cases.iter().map(|(number, readings)| (*number, readings))
    }

    /// Returns, per case with enough trials, the chance that `k` of them all pass.
    fn all_pass(&self) -> impl Iterator<Item = f64> {
        self.cases.values().filter_map(|case| case.all_pass(self.k))
    }

    /// Returns the number of distinct transcripts kept.
    pub(super) fn distinct_contents(&self) -> usize {
        self.contents.len()
    }

    pub(super) fn levels(&self) -> u64 {
        self.levels.count
    }

    /// Returns the number of independent observations: distinct cases, identical transcripts counted once.
    pub(super) fn independent_cases(&self) -> usize {
        if self.contents_known { self.cases.len().min(self.contents.len()) } else { self.cases.len() }
    }

    pub(super) fn rate(&self) -> Option<f64> {
        (self.of > 0).then(|| self.hit as f64 / self.of as f64)
    }

    pub(super) fn value(&self, aggregate: GateAggregate) -> Option<f64> {
        match aggregate {
            GateAggregate::Rate => self.rate(),
            GateAggregate::MissRate => self.rate().map(|rate| 1.0 - rate),
            GateAggregate::Misses => (self.of > 0).then(|| (self.of - self.hit) as f64),
            GateAggregate::Max => self.levels.most,
            GateAggregate::Mean => if self.levels.count == 0 { &self.rates } else { &self.levels }.mean(),
            GateAggregate::PassHatK => self.clustered_rate(aggregate).map(|rate| round(rate.rate)),
        }
    }

    /// Returns the rate of an aggregate that has an interval.
    fn clustered_rate(&self, aggregate: GateAggregate) -> Option<ClusteredRate> {
        match aggregate {
            GateAggregate::Rate | GateAggregate::MissRate => ClusteredRate::of(self.cases.values().map(CaseReadings::tally)),
            GateAggregate::PassHatK => ClusteredRate::of(self.all_pass().map(|hit| CaseTally { hit, of: 1.0 })),
            GateAggregate::Misses | GateAggregate::Max | GateAggregate::Mean => None,
        }
    }

    pub(super) fn interval(&self, aggregate: GateAggregate) -> Option<(f64, f64)> {
        oriented(aggregate, self.clustered_rate(aggregate)?.interval())
    }

    pub(super) fn exact(&self, aggregate: GateAggregate) -> Option<ExactInterval> {
        let (low, high) = oriented(aggregate, self.clustered_rate(aggregate)?.exact(0.95)?)?;
        Some(ExactInterval { low, high })
    }

    /// Returns the number of independent observations that the readings are worth, if readings of a case repeat.
    pub(super) fn effective_n(&self, aggregate: GateAggregate) -> Option<f64> {
        let rate = self.clustered_rate(aggregate)?;
        rate.is_clustered().then(|| (rate.effective_n * 10.0).round() / 10.0)
    }

    pub(super) fn has_unscorable(&self) -> bool {
        !self.unscorable.is_empty()
    }

    /// Returns the reasons of unscorable readings, in a fixed order.
    pub(super) fn unscorable(&self) -> String {
        let mut all: Vec<&str> = self.unscorable.iter().map(String::as_str).collect();
        if self.more_unscorable > 0 {
            all.push("and others");
        }
        all.join(", ")
    }

    /// Returns the worst cases, worst first, ties by case and trial.
    pub(super) fn worst(&self) -> Vec<WorstCase> {
        self.worst.iter().map(|(_, case)| case.clone()).collect()
    }
}

fn oriented(aggregate: GateAggregate, (low, high): (f64, f64)) -> Option<(f64, f64)> {
    match aggregate {
        GateAggregate::Rate | GateAggregate::PassHatK => Some((low, high)),
        GateAggregate::MissRate => Some((1.0 - high, 1.0 - low)),
        GateAggregate::Misses | GateAggregate::Max | GateAggregate::Mean => None,
    }
}

/// Fixed-point sum of levels. Independent of the order of trials.
#[derive(Debug, Default)]
struct LevelSum {
    count: u64,
    most: Option<f64>,
    sum: i128,
}

impl LevelSum {
    /// Fixed-point scale: finer than the digits shown, and without overflow for realistic levels.
    const UNIT: f64 = (1_u64 << 50) as f64;

    fn add(&mut self, level: f64) {
        self.count += 1;
        self.most = Some(self.most.map_or(level, |most| most.max(level)));
        self.sum = self.sum.saturating_add((level * Self::UNIT).round() as i128);
    }

    /// Returns the rounded mean, so that 0.8 is not 0.7999999999999999.
    fn mean(&self) -> Option<f64> {
        let mean = self.sum as f64 / Self::UNIT / self.count as f64;
        (self.count > 0).then(|| round(mean))
    }
}

fn round(level: f64) -> f64 {
    (level * 1e12).round() / 1e12
}
