//! The readings of a slice, pooled. Nothing here depends on the order of trials.

use super::interval::{clopper_pearson, wilson};
use super::judge::Measured;
use model::{Aggregate, Bound, Exact, Gate, Hash, Reading, Score, WorstCase};
use std::collections::BTreeSet;

pub(super) struct Pool<'a> {
    pub hit: u64,
    pub of: u64,
    pub unscorable: Vec<String>,
    pub aborted: usize,
    levels: Vec<f64>,
    /// Of tallies, one for each trial.
    rates: Vec<f64>,
    cases: BTreeSet<&'a str>,
    contents: BTreeSet<&'a Hash>,
    /// Whether every trial said what happened in it.
    contents_known: bool,
    worst: Vec<(f64, WorstCase)>,
    bound: Bound,
}

impl<'a> Pool<'a> {
    pub(super) fn new(gate: &Gate) -> Self {
        Self {
            hit: 0,
            of: 0,
            unscorable: vec![],
            aborted: 0,
            levels: vec![],
            rates: vec![],
            cases: BTreeSet::new(),
            contents: BTreeSet::new(),
            contents_known: true,
            worst: vec![],
            bound: gate.bound,
        }
    }

    pub(super) fn add(&mut self, trial: &Measured<'a>, score: &Score) {
        match &score.reading {
            Reading::Tally { of: 0, .. } => return,
            Reading::Tally { hit, of } => {
                self.hit += hit;
                self.of += of;
                let rate = *hit as f64 / *of as f64;
                self.rates.push(rate);
                if hit < of {
                    self.remember(rate, trial, score);
                }
            }
            Reading::Level(level) if level.is_finite() => {
                self.levels.push(*level);
                // Of levels the lower or the higher is worse, as the bound says; one that keeps to the bound is no bad case.
                match self.bound {
                    Bound::AtLeast(_) if !self.bound.holds(*level) => self.remember(*level, trial, score),
                    Bound::AtMost(_) if !self.bound.holds(*level) => self.remember(-level, trial, score),
                    Bound::AtLeast(_) | Bound::AtMost(_) => {}
                }
            }
            Reading::Level(level) => {
                self.unscorable.push(format!("{}: its level is {level}", trial.case.id.value));
                return;
            }
            Reading::Unscorable { why } => {
                self.unscorable.push(format!("{}: {why}", trial.case.id.value));
                return;
            }
        }
        self.cases.insert(trial.case.id.as_str());
        match trial.content {
            Some(content) => {
                self.contents.insert(content);
            }
            None => self.contents_known = false,
        }
    }

    fn remember(&mut self, rank: f64, trial: &Measured<'_>, score: &Score) {
        let because = score.because.iter().map(|because| because.what.as_str()).collect::<Vec<_>>().join("; ");
        let case = trial.case.id.value.clone();
        self.worst.push((rank, WorstCase { case, trial: trial.trial.short().to_owned(), because }));
    }

    pub(super) fn cases(&self) -> usize {
        self.cases.len()
    }

    pub(super) fn levels(&self) -> u64 {
        self.levels.len() as u64
    }

    /// Pieces of evidence that do not repeat each other: distinct cases, identical transcripts once.
    pub(super) fn independent(&self) -> usize {
        if self.contents_known { self.cases.len().min(self.contents.len()) } else { self.cases.len() }
    }

    pub(super) fn rate(&self) -> Option<f64> {
        (self.of > 0).then(|| self.hit as f64 / self.of as f64)
    }

    pub(super) fn value(&self, aggregate: Aggregate) -> Option<f64> {
        match aggregate {
            Aggregate::Rate => self.rate(),
            Aggregate::MissRate => self.rate().map(|rate| 1.0 - rate),
            Aggregate::Misses => (self.of > 0).then(|| (self.of - self.hit) as f64),
            Aggregate::Max => self.levels.iter().copied().reduce(f64::max),
            Aggregate::Mean => mean(if self.levels.is_empty() { &self.rates } else { &self.levels }),
        }
    }

    pub(super) fn interval(&self, aggregate: Aggregate) -> Option<(f64, f64)> {
        oriented(aggregate, wilson(self.hit, self.of)?)
    }

    pub(super) fn exact(&self, aggregate: Aggregate) -> Option<Exact> {
        let (low, high) = oriented(aggregate, clopper_pearson(self.hit, self.of, 0.95)?)?;
        Some(Exact { low, high })
    }

    /// What could not be scored, in a fixed order.
    pub(super) fn unscorable(&self) -> String {
        let mut all = self.unscorable.clone();
        all.sort();
        all.join(", ")
    }

    /// The three worst, worst first, ties by case and trial.
    pub(super) fn worst(mut self) -> Vec<WorstCase> {
        self.worst.sort_by(|(a, left), (b, right)| {
            a.total_cmp(b).then_with(|| left.case.cmp(&right.case)).then_with(|| left.trial.cmp(&right.trial))
        });
        self.worst.into_iter().take(3).map(|(_, case)| case).collect()
    }
}

fn oriented(aggregate: Aggregate, (low, high): (f64, f64)) -> Option<(f64, f64)> {
    match aggregate {
        Aggregate::Rate => Some((low, high)),
        Aggregate::MissRate => Some((1.0 - high, 1.0 - low)),
        Aggregate::Misses | Aggregate::Max | Aggregate::Mean => None,
    }
}

/// Summed from the smallest, so that the order of trials cannot change a digit; rounded, so that 0.8 is not 0.7999999999999999.
fn mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    (!sorted.is_empty()).then(|| (mean * 1e12).round() / 1e12)
}
