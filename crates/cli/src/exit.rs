//! How the program ends. When several reasons apply, the first of usage, gate, incomplete, clean wins.

use campaign::Summary;
use model::Verdict;
use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Clean,
    /// A gate was missed or a check failed.
    Missed,
    /// Wrong arguments or mistakes in files; nothing ran.
    Usage,
    /// Aborted trials, missing evidence, an empty selection.
    Incomplete,
}

impl Exit {
    /// What the verdicts of a run amount to.
    pub(crate) fn of(summary: &Summary) -> Self {
        let any = |verdict| summary.verdicts.judgements.iter().any(|judgement| judgement.verdict == verdict);
        if any(Verdict::Missed) {
            Exit::Missed
        } else if summary.verdicts.judgements.is_empty()
            || any(Verdict::NoEvidence)
            || summary.outcomes.aborted() > 0
            || summary.unread > 0
            || summary.rubrics_without_verdict > 0
        {
            Exit::Incomplete
        } else {
            Exit::Clean
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Missed => 1,
            Exit::Usage => 2,
            Exit::Incomplete => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
