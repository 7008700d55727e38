//! Exit codes. If several apply, the first of usage, interrupted, missed, incomplete, clean wins.

use campaign::{EarlyStop, RunSummary};
use model::{AbortCause, Verdict};
use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitKind {
    Clean,
    /// A gate was missed or a check failed.
    Missed,
    /// Invalid arguments or files; nothing was run.
    Usage,
    /// Aborted or unscored trials, missing evidence or rubric verdicts, failed scorers, failed or unjudged trials that no gate
    /// reads, or nothing selected.
    Incomplete,
}

impl ExitKind {
    /// Returns the exit for a finished run.
    pub(crate) fn of(summary: &RunSummary) -> Self {
        let any = |verdict| summary.verdicts.judgements.iter().any(|judgement| judgement.verdict == verdict);
        let stopped_by_failures = matches!(summary.stop, Some(EarlyStop::MaxFail { .. }));
        let is_decided = matches!(summary.stop, Some(EarlyStop::Decided));
        let not_run = summary.outcomes.aborted_by(AbortCause::Interrupted);
        if not_run > 0 && !is_decided && !(stopped_by_failures && any(Verdict::Missed)) {
            // The trials that did not run could still decide a gate. A run that stops at failures has missed what it has missed.
            ExitKind::Incomplete
        } else if any(Verdict::Missed) {
            ExitKind::Missed
        } else if summary.verdicts.judgements.is_empty()
            || any(Verdict::NoEvidence)
            || summary.outcomes.aborted() > if is_decided { not_run } else { 0 }
            || summary.unscored > 0
            || summary.rubrics_without_verdict > 0
            || !summary.failed_scorers.is_empty()
            || summary.failures_without_gate.trials > 0
            || summary.unjudged_without_gate.trials > 0
        {
            ExitKind::Incomplete
        } else {
            ExitKind::Clean
        }
    }

    /// Returns the exit of two results together.
    pub(crate) fn worse_of(self, other: Self) -> Self {
        let rank = |exit: Self| match exit {
            ExitKind::Clean => 0,
            ExitKind::Incomplete => 1,
            ExitKind::Missed => 2,
            ExitKind::Usage => 3,
        };
        if rank(other) > rank(self) { other } else { self }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            ExitKind::Clean => 0,
            ExitKind::Missed => 1,
            ExitKind::Usage => 2,
            ExitKind::Incomplete => 3,
        }
    }
}

impl From<ExitKind> for ExitCode {
    fn from(exit: ExitKind) -> Self {
        ExitCode::from(exit.code())
    }
}
