//! Failure that a smaller case must still show, and how often it happens.

use crate::execute::ScoredTrial;
use model::{Case, CaseOutcome, OracleId, ScorerId, ScorerName, Workspace};
use score::oracles::attack_outcome;
use score::outcome::case_outcome;
use score::scorers::Evidence;
use score::statistics::clopper_pearson;
use std::collections::BTreeSet;

/// Confidence of the interval of a rate.
const CONFIDENCE: f64 = 0.95;

/// Failure of a trial by its causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReproducedFailure {
    /// Attack that was read and reached a signature, a broadcast or a state.
    Breach(BTreeSet<OracleId>),
    /// Case that failed.
    Failed(BTreeSet<ScorerName>),
}

impl ReproducedFailure {
    /// Returns the causes for which a trial failed; `None` if it did not.
    pub(super) fn of_trial(workspace: &Workspace, case: &Case, trial: &ScoredTrial) -> Option<Self> {
        if case.attack.is_some() {
            let outcome = attack_outcome(&Evidence::new(workspace, case, &trial.transcript));
            // An attack that was not read counts for nothing, so it would be no reproducer.
            let breaches = outcome.violated.iter().filter(|(_, violation)| outcome.exercised && violation.effect.is_breach());
            let oracles: BTreeSet<OracleId> = breaches.map(|(oracle, _)| *oracle).collect();
            return (!oracles.is_empty()).then_some(ReproducedFailure::Breach(oracles));
        }
        if case_outcome(&trial.transcript.ending, &trial.scores) != CaseOutcome::Failed {
            return None;
        }
        let violated = trial.scores.iter().filter(|score| score.reading.is_violation()).map(|score| score.scorer.clone());
        let violated: BTreeSet<ScorerName> = violated.collect();
        // `case_pass` sums up the others.
        let others: BTreeSet<ScorerName> = violated.iter().filter(|name| **name != ScorerId::CasePass).cloned().collect();
        Some(ReproducedFailure::Failed(if others.is_empty() { violated } else { others }))
    }

    /// Returns whether another failure has a cause in common.
    pub(super) fn shares_cause(&self, other: &Self) -> bool {
        match (self, other) {
            (ReproducedFailure::Breach(own), ReproducedFailure::Breach(other)) => !own.is_disjoint(other),
            (ReproducedFailure::Failed(own), ReproducedFailure::Failed(other)) => !own.is_disjoint(other),
            (ReproducedFailure::Breach(_), ReproducedFailure::Failed(_)) | (ReproducedFailure::Failed(_), ReproducedFailure::Breach(_)) => {
                false
            }
        }
    }

    /// Returns the ids of the causes.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            ReproducedFailure::Breach(oracles) => oracles.iter().map(|oracle| oracle.word().to_owned()).collect(),
            ReproducedFailure::Failed(scorers) => scorers.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Failures among trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MeasuredRate {
    pub failed: u64,
    pub of: u64,
}

impl MeasuredRate {
    pub(super) fn add(&mut self, failed: bool) {
        self.failed += u64::from(failed);
        self.of += 1;
    }

    /// Returns the rate; `None` without a trial.
    pub fn rate(&self) -> Option<f64> {
        (self.of > 0).then(|| self.failed as f64 / self.of as f64)
    }

    /// Returns the exact 95 % interval of the rate.
    pub fn interval(&self) -> Option<(f64, f64)> {
        clopper_pearson(self.failed, self.of, CONFIDENCE)
    }
}

impl std::fmt::Display for MeasuredRate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { failed, of } = self;
        write!(f, "{failed} of {}", model::count(usize::try_from(*of).unwrap_or(usize::MAX), "trial"))?;
        match (self.rate(), self.interval()) {
            (Some(rate), Some((low, high))) => {
                write!(f, " ({:.0} %, 95 % interval {:.1} to {:.1} %)", rate * 100.0, low * 100.0, high * 100.0)
            }
            (Some(_) | None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_shown_with_its_interval() {
        assert_eq!(MeasuredRate { failed: 10, of: 10 }.to_string(), "10 of 10 trials (100 %, 95 % interval 69.2 to 100.0 %)");
        assert_eq!(MeasuredRate { failed: 5, of: 10 }.to_string(), "5 of 10 trials (50 %, 95 % interval 18.7 to 81.3 %)");
        assert_eq!(MeasuredRate::default().to_string(), "0 of 0 trials");
    }

    #[test]
    fn causes_of_different_kinds_share_nothing() {
        let breach = |oracles: &[OracleId]| ReproducedFailure::Breach(oracles.iter().copied().collect());
        assert!(breach(&[OracleId::Flow, OracleId::Cap]).shares_cause(&breach(&[OracleId::Cap])));
        assert!(!breach(&[OracleId::Flow]).shares_cause(&breach(&[OracleId::Cap])));
        assert!(!breach(&[OracleId::Flow]).shares_cause(&ReproducedFailure::Failed(BTreeSet::new())));
    }
}
