//! Result of a run without its transcripts, as needed by reports.

use model::{AbortCause, CaseOutcome, ContentHash, Ending, GateVerdicts, RunClaim, ScorerId, ScorerName};
use score::causes::FailureCauses;
use score::statistics::{CaseTrials, pass_at_k, pass_hat_k};
use std::collections::{BTreeMap, BTreeSet};
use store::AgentOutput;

#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    pub claim: RunClaim,
    /// In the order of the plan.
    pub subjects: Vec<String>,
    pub outcomes: OutcomeCounts,
    /// Finished trials without a reading by any scorer.
    pub unscored: u64,
    /// Trials whose rubric was not judged.
    pub rubrics_not_judged: u64,
    /// Trials whose rubric was judged without a readable verdict.
    pub rubrics_without_verdict: u64,
    /// Scorers of the workspace that failed or answered with something else than a reading.
    pub failed_scorers: BTreeMap<ScorerName, ScorerFailures>,
    /// First cases that failed, each once.
    pub failed_cases: Vec<String>,
    /// First aborted trials, without those that never started.
    pub aborted_trials: Vec<AbortedTrial>,
    /// Failed trials without a miss that a gate reads.
    pub failures_without_gate: UnreadFailures,
    /// Trials that only a judge could decide, where no gate reads its verdict. A gate would say that it has no evidence.
    pub unjudged_without_gate: UnreadRubrics,
    pub causes: FailureCauses,
    pub flaky: Vec<FlakyCase>,
    /// One per subject whose cases were run several times.
    pub repeats: Vec<RepeatedTrials>,
    pub verdicts: GateVerdicts,
    /// Hash of the record so far.
    pub record: ContentHash,
    /// Reason why the run did not run all its trials, if it decided so itself.
    pub stop: Option<EarlyStop>,
}

/// Decision of a run not to run the rest of its trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlyStop {
    /// As many trials failed as `--max-fail` allows.
    MaxFail { failed: u64 },
    /// The verdict of every gate is settled, as `--stop-when-decided` asks.
    Decided,
    /// The first trial of an external agent shows that it does not work.
    Preflight { case: String, subject: String, ending: Ending, output: Option<AgentOutput> },
    /// No worker can play the trials that are left.
    NoWorker(StrandedTrials),
}

/// Trials that are left and that no live worker can play.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StrandedTrials {
    pub subjects: Vec<String>,
    pub trials: u64,
    /// Reasons of live workers; empty if there is none.
    pub reasons: Vec<String>,
    pub waited_s: u64,
}

/// Number of trials by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    pub passed: u64,
    pub failed: u64,
    pub unjudged: u64,
    aborted: BTreeMap<AbortCause, u64>,
    /// Aborted trials in which the subject did harm before. They are not run again.
    harmful_aborts: u64,
}

/// Trials that a scorer of the workspace could not measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorerFailures {
    pub trials: u64,
    /// Reason of the first one.
    pub why: String,
}

/// Failed trials that cannot make a run fail, because no gate reads their misses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadFailures {
    pub trials: u64,
    /// First cases of these trials.
    pub cases: Vec<String>,
    /// Scorers that a gate would have to read.
    pub scorers: BTreeSet<ScorerId>,
}

/// Trials whose rubric was not judged, and that no gate on `judged` reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadRubrics {
    pub trials: u64,
    /// First cases of these trials.
    pub cases: Vec<String>,
}

/// Trial that is not evidence.
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

/// Chances that one, or all, of `k` trials of a case pass.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedTrials {
    pub subject: String,
    /// Largest number of trials of a case.
    pub k: u64,
    /// Cases with that many trials.
    pub cases: usize,
    pub pass_at_k: f64,
    pub pass_hat_k: f64,
}

impl RepeatedTrials {
    pub(crate) fn of(subject: &str, cases: &[CaseTrials]) -> Option<Self> {
        let k = cases.iter().map(|case| case.trials).max().filter(|k| *k > 1)?;
        let counted = cases.iter().filter(|case| case.trials >= k).count();
        let (pass_at_k, pass_hat_k) = (pass_at_k(cases, k)?, pass_hat_k(cases, k)?);
        Some(Self { subject: subject.to_owned(), k, cases: counted, pass_at_k, pass_hat_k })
    }
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

    /// Counts a trial that is aborted and still not run again.
    pub(crate) fn add_harmful_abort(&mut self) {
        self.harmful_aborts += 1;
    }

    /// Returns the number of trials that are evidence.
    pub fn finished(&self) -> u64 {
        self.passed + self.failed + self.unjudged
    }

    /// Returns the number of trials that are not evidence, including those that never started.
    pub fn aborted(&self) -> u64 {
        self.aborted.values().sum()
    }

    pub fn aborted_by(&self, cause: AbortCause) -> u64 {
        self.aborted.get(&cause).copied().unwrap_or_default()
    }

    /// Returns the number of trials that a resumed run runs again.
    pub fn run_again(&self) -> u64 {
        let again: u64 = self.aborted.iter().filter(|(cause, _)| cause.is_run_again()).map(|(_, trials)| trials).sum();
        again - self.harmful_aborts
    }

    pub fn planned(&self) -> u64 {
        self.finished() + self.aborted()
    }

    /// Returns the number of trials that ended, aborted ones included.
    pub fn ended(&self) -> u64 {
        self.planned() - self.aborted_by(AbortCause::Interrupted)
    }
}

impl RunSummary {
    /// Returns true if there is nothing to resume: no trial would be run again.
    pub fn is_complete(&self) -> bool {
        self.outcomes.run_again() == 0
    }

    /// Returns true if the run is over: it is complete, or it stopped because nothing more was asked of it.
    pub fn is_final(&self) -> bool {
        let is_decided = matches!(self.stop, Some(EarlyStop::MaxFail { .. } | EarlyStop::Decided));
        is_decided || self.is_complete()
    }
}
