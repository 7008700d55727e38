//! Result of one scorer on one transcript.

use model::{Reading, ScoreReason};

/// A reading with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorerFinding {
    pub reading: Reading,
    pub because: Vec<ScoreReason>,
}

impl ScorerFinding {
    pub fn not_exercised() -> Self {
        Self { reading: Reading::not_exercised(), because: vec![] }
    }

    pub fn one(good: bool, event: Option<u32>, what: impl Into<String>) -> Self {
        Self { reading: Reading::from_bool(good), because: vec![ScoreReason { event, what: what.into() }] }
    }

    /// Pools two findings. An unscorable reading stays unscorable.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.reading = match (self.reading, other.reading) {
            (Reading::Tally { hit, of }, Reading::Tally { hit: more, of: all }) => Reading::Tally { hit: hit + more, of: of + all },
            (unscorable @ Reading::Unscorable { .. }, _) | (_, unscorable @ Reading::Unscorable { .. }) => unscorable,
            (level @ Reading::Level(_), _) | (_, level @ Reading::Level(_)) => level,
        };
        self.because.extend(other.because);
        self
    }

    /// Returns the reasons if the reading is a violation, otherwise none.
    pub(crate) fn misses(&self) -> Vec<ScoreReason> {
        if self.reading.is_violation() { self.because.clone() } else { vec![] }
    }
}
