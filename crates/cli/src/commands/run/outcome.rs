//! End of the command: stopped by a mistake or a fault, or with a report.

use crate::args::RunArgs;
use crate::commands::judge;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{self, Shown, TrialLine};
use campaign::{PreparedRun, RunHandle, RunStorage, RunStoreError, Summary};
use model::{AbortCause, UserError};
use store::StoreError;

/// Reason why there is no summary.
#[derive(Debug)]
pub(super) enum RunStop {
    /// Mistakes of the user; nothing was run.
    Refused(Vec<UserError>),
    /// The filters left no case.
    Empty,
    Fault(String),
}

impl RunStop {
    pub(super) fn report(self, io: &Io) -> Exit {
        match self {
            RunStop::Refused(errors) => report::refused(io, "run", &errors),
            RunStop::Empty => {
                io.say("no case is left after these filters; nothing was run");
                Exit::Incomplete
            }
            RunStop::Fault(why) => {
                io.say(&format!("the run could not be carried out: {why}"));
                Exit::Incomplete
            }
        }
    }
}

impl From<Vec<UserError>> for RunStop {
    fn from(errors: Vec<UserError>) -> Self {
        RunStop::Refused(errors)
    }
}

impl From<UserError> for RunStop {
    fn from(error: UserError) -> Self {
        RunStop::Refused(vec![error])
    }
}

impl From<RunStoreError> for RunStop {
    fn from(error: RunStoreError) -> Self {
        RunStop::Refused(vec![error.into()])
    }
}

impl From<StoreError> for RunStop {
    fn from(error: StoreError) -> Self {
        RunStop::Fault(error.to_string())
    }
}

impl From<std::io::Error> for RunStop {
    fn from(error: std::io::Error) -> Self {
        RunStop::Fault(error.to_string())
    }
}

/// A run that was executed.
pub(super) struct ExecutedRun<'r> {
    pub prepared: &'r PreparedRun,
    pub handle: &'r RunHandle,
    pub summary: &'r Summary,
}

/// Prints the report of a run.
pub(super) fn deliver(io: &Io, source: &Source, args: &RunArgs, executed: &ExecutedRun<'_>) -> Exit {
    let ExecutedRun { prepared, handle, summary } = *executed;
    let is_stored = *handle.storage() == RunStorage::File;
    let exit = match (Exit::of(summary), handle.storage()) {
        (Exit::Clean, RunStorage::Fallback { .. }) => Exit::Incomplete,
        (exit, RunStorage::File | RunStorage::Memory | RunStorage::Fallback { .. }) => exit,
    };
    if is_stored && summary.outcomes.aborted_by(AbortCause::Interrupted) > 0 {
        let (ended, planned) = (summary.outcomes.ended(), summary.outcomes.planned());
        let (id, flag) = (handle.short_id(), io.workspace_flag());
        io.say(&format!("{ended} of {planned} trials have ended; go on with: bardo-eval run --resume {id}{flag}"));
    }
    let workspace = prepared.plan().workspace();
    let judge_name = prepared.plan().spec().settings.judge.as_deref();
    let shown = Shown {
        command: "run",
        source,
        workspace,
        summary,
        lines: if report::wants_lines(io) { handle.read_ended(TrialLine::from).unwrap_or_default() } else { vec![] },
        kept_as: is_stored.then(|| args.store.show(handle.name(summary))),
        spent: handle.spent(),
        judge: judge_name.and_then(|name| judge::known(workspace, &args.store.store, name)),
        exit,
    };
    io.result(&report::run(io, &shown), exit)
}
