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
            let stderr = output.as_ref().map_or("", |output| output.stderr.as_str());
            lines.push(format!("to do: {}", remedy(ending, stderr)));
            lines.push(match resume {
                Some(resume) => format!("or run the other trials all the same: {resume}"),
                None => "or run the other trials all the same: --no-preflight".to_owned(),
            });
            lines.join("\n")
        }
    })
}

/// Returns what helps against an ending that says that an agent does not work.
fn remedy(ending: &Ending, stderr: &str) -> &'static str {
    match ending {
        Ending::Crashed { .. } => crash_remedy(stderr),
        Ending::Hung => "flush each move, or give the agent more time with --timeout SECONDS, and start again",
        Ending::MalformedMove { .. } => {
            "print nothing but moves to stdout (logs go to stderr), and start again; docs/guide/subjects.md lists the moves"
        }
        Ending::Aborted { by: FaultSource::Provider, .. } => "start the agent's server, check its URL, and start again",
        Ending::Aborted { .. } => "check that the command can be started from this folder, and start again",
        Ending::Finished | Ending::Refused | Ending::GaveUp | Ending::OverLimit { .. } | Ending::Unfunded => "start again",
    }
}

/// Signs in what an agent printed to stderr before it crashed, with what helps.
const CRASH_SIGNS: &[(&[&str], &str)] = &[
    (
        &["can't open file", "Cannot find module", "No such file or directory", "FileNotFoundError"],
        "check the path: it starts from the folder of this command; files beside the agent's code need read: in a subject file",
    ),
    (
        &["KeyError", "API_KEY", "api_key", "environment variable"],
        "agents see only the variables that a subject file allows: list the name under env: in subjects/NAME.yaml, and run --subject NAME",
    ),
    (
        &["Permission denied", "PermissionError", "EACCES", "Operation not permitted", "EPERM"],
        "the sandbox allows the working folder and no network: list ports under connect: and folders under read: in subjects/NAME.yaml, or run with --sandbox none",
    ),
    (&["ModuleNotFoundError", "ImportError"], "install the module for the interpreter of the command, such as .venv/bin/python agent.py"),
];

fn crash_remedy(stderr: &str) -> &'static str {
    let known = CRASH_SIGNS.iter().find(|(signs, _)| signs.iter().any(|sign| stderr.contains(sign)));
    known.map_or(
        "read the last lines above; an agent over process: stays until its stdin closes, one over mcp: exits with its answer",
        |(_, remedy)| remedy,
    )
}

#[cfg(test)]
mod tests {
    use super::crash_remedy;

    #[test]
    fn remedies_of_crashes_follow_stderr() {
        for (stderr, remedy) in [
            ("python3: can't open file '/tmp/x/work/agnet.py': [Errno 2]", "check the path"),
            ("KeyError: 'OPENAI_API_KEY'", "env:"),
            ("OSError: [Errno 13] Permission denied", "connect:"),
            ("ModuleNotFoundError: No module named 'mcp'", "install the module"),
            ("", "stays until its stdin closes"),
        ] {
            assert!(crash_remedy(stderr).contains(remedy), "{stderr}: {}", crash_remedy(stderr));
        }
    }
}
