//! The readings of a slice, pooled. Nothing here depends on the order of trials.

use super::interval::{clopper_pearson, wilson};
use model::{Aggregate, Bound, Exact, Gate, Hash, Reading, Score, WorstCase};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct Pool {
    pub hit: u64,
    pub of: u64,
    pub aborted: usize,
    /// Whether a trial concerned this slice, or exercised it unasked.
    pub touched: bool,
    unscorable: BTreeSet<String>,
    more_unscorable: usize,
    levels: Levels,
    /// Of tallies, one for each trial.
    rates: Levels,
    cases: BTreeSet<usize>,
    contents: BTreeSet<Hash>,
    /// Whether every trial said what happened in it.
    contents_known: bool,
    worst: Vec<(f64, WorstCase)>,
    bound: Bound,
}

/// A trial as far as a pool needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub trial: &'a Hash,
    pub case: &'a str,
    /// Cases are told apart by number.
    pub number: usize,
    pub content: Option<&'a Hash>,
    /// No more contents than this can matter: fewer of the two, cases and contents, count.
    pub most_cases: usize,
}

/// How many of the worst cases, and of those that cannot be scored, are kept.
const WORST: usize = 3;
const UNSCORABLE: usize = 20;

impl Pool {
    pub(super) fn new(gate: &Gate) -> Self {
        Self {
            hit: 0,
            of: 0,
            aborted: 0,
            touched: false,
            unscorable: BTreeSet::new(),
            more_unscorable: 0,
            levels: Levels::default(),
            rates: Levels::default(),
            cases: BTreeSet::new(),
            contents: BTreeSet::new(),
            contents_known: true,
            worst: vec![],
            bound: gate.bound,
        }
    }

    pub(super) fn add(&mut self, trial: Entry<'_>, score: &Score) {
        match &score.reading {
            Reading::Tally { of: 0, .. } => return,
            Reading::Tally { hit, of } => {
                self.hit += hit;
                self.of += of;
                let rate = *hit as f64 / *of as f64;
                self.rates.add(rate);
                if hit < of {
                    self.remember(rate, trial, score);
                }
            }
            Reading::Level(level) if level.is_finite() => {
                // A level that was written down and read back may differ in its last bit; it must count the same.
                let level = &round(*level);
                self.levels.add(*level);
                // Of levels the lower or the higher is worse, as the bound says; one that keeps to the bound is no bad case.
                match self.bound {
                    Bound::AtLeast(_) if !self.bound.holds(*level) => self.remember(*level, trial, score),
                    Bound::AtMost(_) if !self.bound.holds(*level) => self.remember(-level, trial, score),
                    Bound::AtLeast(_) | Bound::AtMost(_) => {}
                }
            }
            Reading::Level(level) => return self.cannot_score(format!("{}: its level is {level}", trial.case)),
            Reading::Unscorable { why } => return self.cannot_score(format!("{}: {why}", trial.case)),
        }
        self.cases.insert(trial.number);
        match trial.content {
            Some(content) if self.contents.len() < trial.most_cases => {
                if !self.contents.contains(content) {
                    self.contents.insert(content.clone());
                }
            }
            Some(_) => {}
            None => self.contents_known = false,
        }
    }

    /// The first few in order of their text are kept, whatever order they come in.
    fn cannot_score(&mut self, why: String) {
        self.unscorable.insert(why);
        if self.unscorable.len() > UNSCORABLE {
            self.unscorable.pop_last();
            self.more_unscorable += 1;
        }
    }

    fn remember(&mut self, rank: f64, trial: Entry<'_>, score: &Score) {
        let key = (rank, trial.case, trial.trial.short());
        let worse = |(a, left): &(f64, WorstCase)| {
            a.total_cmp(&key.0).then_with(|| left.case.as_str().cmp(key.1)).then_with(|| left.trial.as_str().cmp(key.2))
        };
        let at = self.worst.partition_point(|one| worse(one).is_le());
        if at >= WORST {
            return;
        }
        let because = score.because.iter().map(|because| because.what.as_str()).collect::<Vec<_>>().join("; ");
        self.worst.insert(at, (rank, WorstCase { case: trial.case.to_owned(), trial: trial.trial.short().to_owned(), because }));
        self.worst.truncate(WORST);
    }

    pub(super) fn cases(&self) -> usize {
        self.cases.len()
    }

    /// Distinct contents seen.
    pub(super) fn distinct(&self) -> usize {
        self.contents.len()
    }

    pub(super) fn levels(&self) -> u64 {
        self.levels.count
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
            Aggregate::Max => self.levels.most,
            Aggregate::Mean => if self.levels.count == 0 { &self.rates } else { &self.levels }.mean(),
        }
    }

    pub(super) fn interval(&self, aggregate: Aggregate) -> Option<(f64, f64)> {
        oriented(aggregate, wilson(self.hit, self.of)?)
    }

    pub(super) fn exact(&self, aggregate: Aggregate) -> Option<Exact> {
        let (low, high) = oriented(aggregate, clopper_pearson(self.hit, self.of, 0.95)?)?;
        Some(Exact { low, high })
    }

    pub(super) fn has_unscorable(&self) -> bool {
        !self.unscorable.is_empty()
    }

    /// What could not be scored, in a fixed order.
    pub(super) fn unscorable(&self) -> String {
        let mut all: Vec<&str> = self.unscorable.iter().map(String::as_str).collect();
        if self.more_unscorable > 0 {
            all.push("and others");
        }
        all.join(", ")
    }

    /// The three worst, worst first, ties by case and trial.
    pub(super) fn worst(&self) -> Vec<WorstCase> {
        self.worst.iter().map(|(_, case)| case.clone()).collect()
    }
}

fn oriented(aggregate: Aggregate, (low, high): (f64, f64)) -> Option<(f64, f64)> {
    match aggregate {
        Aggregate::Rate => Some((low, high)),
        Aggregate::MissRate => Some((1.0 - high, 1.0 - low)),
        Aggregate::Misses | Aggregate::Max | Aggregate::Mean => None,
    }
}

/// Levels added up in whole numbers, so that the order of trials cannot change a digit and none has to be kept.
#[derive(Debug, Default)]
struct Levels {
    count: u64,
    most: Option<f64>,
    sum: i128,
}

impl Levels {
    /// Fine enough for the digits that are shown, coarse enough for any level a scorer reads.
    const UNIT: f64 = (1_u64 << 50) as f64;

    fn add(&mut self, level: f64) {
        self.count += 1;
        self.most = Some(self.most.map_or(level, |most| most.max(level)));
        self.sum = self.sum.saturating_add((level * Self::UNIT).round() as i128);
    }

    /// Rounded, so that 0.8 is not 0.7999999999999999.
    fn mean(&self) -> Option<f64> {
        let mean = self.sum as f64 / Self::UNIT / self.count as f64;
        (self.count > 0).then(|| round(mean))
    }
}

fn round(level: f64) -> f64 {
    (level * 1e12).round() / 1e12
}
