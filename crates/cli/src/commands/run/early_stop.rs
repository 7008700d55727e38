//! Message of a run that did not run all its trials by its own decision.

use crate::io::CliOutput;
use crate::report::{escape_control, output_hint, output_lines};
use campaign::{EarlyStop, RunSummary};
use model::Ending;
use model::transcript::FaultSource;

/// Returns what happened and what to do, if the run stopped early.
pub(super) fn stop_message(io: &CliOutput, summary: &RunSummary, resume: Option<&str>) -> Option<String> {
    let not_run = || model::count(summary.outcomes.planned() - summary.outcomes.ended(), "trial");
    Some(match summary.stop.as_ref()? {
        EarlyStop::MaxFail { failed } => {
            let failed = model::count(*failed, "trial");
            format!("stopped by --max-fail: {failed} failed, {} not run; run without --max-fail to see them all", not_run())
        }
        EarlyStop::Decided => {
            let (ended, planned) = (summary.outcomes.ended(), model::count(summary.outcomes.planned(), "trial"));
            format!("stopped by --stop-when-decided: every gate is decided after {ended} of {planned}")
        }
        EarlyStop::Preflight { case, subject, ending, output } => {
            let (subject, case, ended) = (escape_control(subject), escape_control(case), escape_control(&ending.to_string()));
            let mut lines =
                vec![format!("stopped after the first trial of {subject}: {} not run", not_run()), format!("case {case} {ended}")];
            if let Some(output) = output {
                lines.extend(output_hint(ending, output));
                lines.extend(output_lines(io, output));
            }
            lines.push(format!("to do: {}", remedy(ending)));
            lines.push(match resume {
                Some(resume) => format!("or run the other trials all the same: {resume}"),
                None => "or run the other trials all the same: --no-preflight".to_owned(),
            });
            lines.join("\n")
        }
    })
}

/// Returns what helps against an ending that says that an agent does not work.
fn remedy(ending: &Ending) -> &'static str {
    match ending {
        Ending::Crashed { .. } => {
            "make the agent stay until its stdin closes, and start again; its code is readable for it, other files need read: in a subject file"
        }
        Ending::Hung => "flush each move, or give the agent more time with --timeout SECONDS, and start again",
        Ending::MalformedMove { .. } => {
            "print nothing but moves to stdout (logs go to stderr), and start again; docs/guide/subjects.md lists the moves"
        }
        Ending::Aborted { by: FaultSource::Provider, .. } => "start the agent's server, check its URL, and start again",
        Ending::Aborted { .. } => "check that the command can be started from this folder, and start again",
        Ending::Finished | Ending::Refused | Ending::GaveUp | Ending::OverLimit { .. } | Ending::Unfunded => "start again",
    }
}
