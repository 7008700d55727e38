//! Result of a run without its transcripts: all that a report needs.

use model::{AbortCause, CaseOutcome, ContentHash, Ending, GateVerdicts, RunClaim};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    pub claim: RunClaim,
    /// In the order of the plan.
    pub subjects: Vec<String>,
    pub outcomes: OutcomeCounts,
    /// Ended trials that no scorer read anything off.
    pub unread: u64,
    /// Trials whose rubric no judge was asked about.
    pub rubrics_not_judged: u64,
    /// Trials whose rubric has no verdict although a judge was asked.
    pub rubrics_without_verdict: u64,
    /// The first aborted trials; those that never began are not among them.
    pub aborted_trials: Vec<AbortedTrial>,
    pub flaky: Vec<FlakyCase>,
    pub verdicts: GateVerdicts,
    /// Hash of the record as far as it goes.
    pub record: ContentHash,
}

/// Number of trials by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    pub passed: u64,
    pub failed: u64,
    pub unjudged: u64,
    aborted: BTreeMap<AbortCause, u64>,
}

/// A trial that is no evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct AbortedTrial {
    pub case: String,
    pub subject: String,
    pub ending: Ending,
}

/// A case that passed some of its trials and failed others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlakyCase {
    pub case: String,
    pub subject: String,
    pub passed: u64,
    pub of: u64,
}

impl OutcomeCounts {
    pub(crate) fn add(&mut self, outcome: CaseOutcome) {
        match outcome {
            CaseOutcome::Passed => self.passed += 1,
            CaseOutcome::Failed => self.failed += 1,
            CaseOutcome::Unjudged => self.unjudged += 1,
            CaseOutcome::Aborted { by } => *self.aborted.entry(by).or_default() += 1,
        }
    }

    /// Trials that are evidence.
    pub fn finished(&self) -> u64 {
        self.passed + self.failed + self.unjudged
    }

    /// Trials that are none, whether they began or not.
    pub fn aborted(&self) -> u64 {
        self.aborted.values().sum()
    }

    pub fn aborted_by(&self, cause: AbortCause) -> u64 {
        self.aborted.get(&cause).copied().unwrap_or_default()
    }

    pub fn planned(&self) -> u64 {
        self.finished() + self.aborted()
    }

    /// Trials that came to an end, whichever.
    pub fn ended(&self) -> u64 {
        self.planned() - self.aborted_by(AbortCause::Interrupted)
    }
}

impl RunSummary {
    /// Whether nothing is left to resume: every trial ended, and the budget reached all of them.
    pub fn is_complete(&self) -> bool {
        self.outcomes.aborted_by(AbortCause::Interrupted) == 0 && self.outcomes.aborted_by(AbortCause::Unfunded) == 0
    }
}
