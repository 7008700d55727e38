//! Message of a run that did not run all its trials by its own decision.

use super::service_remedy::service_remedy;
use crate::io::CliOutput;
use crate::report::{escape_control, output_hint, output_lines};
use campaign::{EarlyStop, RunSummary, StrandedTrials};
use model::transcript::FaultSource;
use model::{Ending, SubjectFile};

/// Returns what happened and what to do, if the run stopped early.
pub(super) fn stop_message(io: &CliOutput, summary: &RunSummary, subjects: &[SubjectFile], resume: Option<&str>) -> Option<String> {
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
        EarlyStop::NoWorker(stranded) => stranded_message(stranded, resume),
        EarlyStop::Preflight { case, subject, ending, output } => {
            let agent = subjects.iter().find(|agent| *agent.name == *subject);
            let (subject, case, ended) = (escape_control(subject), escape_control(case), escape_control(&ending.to_string()));
            let mut lines =
                vec![format!("stopped after the first trial of {subject}: {} not run", not_run()), format!("case {case} {ended}")];
            if let Some(output) = output {
                lines.extend(output_hint(ending, output));
                lines.extend(output_lines(io, output));
            }
            let stderr = output.as_ref().map_or("", |output| output.stderr.as_str());
            let service = agent.and_then(|agent| service_remedy(agent, ending)).map(|remedy| escape_control(&remedy));
            lines.push(format!("to do: {}", service.unwrap_or_else(|| remedy(ending, stderr))));
            lines.push(match resume {
                Some(resume) => format!("or run the other trials all the same: {resume}"),
                None => "or run the other trials all the same: --no-preflight".to_owned(),
            });
            lines.join("\n")
        }
    })
}

/// Says which trials no worker can play, and why.
fn stranded_message(stranded: &StrandedTrials, resume: Option<&str>) -> String {
    let (trials, subjects) = (model::count(stranded.trials, "trial"), escape_control(&stranded.subjects.join(", ")));
    let mut lines = vec![format!("no worker could play {trials} of {subjects} within {} seconds", stranded.waited_s)];
    if stranded.reasons.is_empty() {
        lines.push("no worker is connected; start one with `bardo-eval work` and the same --store".to_owned());
    }
    lines.extend(stranded.reasons.iter().map(|reason| format!("worker {}", escape_control(reason))));
    lines.extend(resume.map(|resume| format!("resume with: {resume} --workers 0")));
    lines.join("\n")
}

/// Returns what helps against an ending that says that an agent does not work.
fn remedy(ending: &Ending, stderr: &str) -> String {
    let remedy = match ending {
        Ending::Crashed { .. } => return crash_remedy(stderr),
        Ending::Hung => "flush each move, or give the agent more time with --timeout SECONDS, and start again",
        Ending::MalformedMove { .. } => {
            "print nothing but moves to stdout (logs go to stderr), and start again; docs/guide/subjects.md lists the moves"
        }
        Ending::Aborted { by: FaultSource::Provider, .. } => "start the agent's server, check its URL, and start again",
        Ending::Aborted { .. } => "check that the command can be started from this folder, and start again",
        Ending::Finished | Ending::Refused | Ending::GaveUp | Ending::OverLimit { .. } | Ending::Unfunded => "start again",
    };
    remedy.to_owned()
}

/// Line of stderr that suggests a cause, with the cause and what helps. A suggestion: only the lines themselves are known.
struct CrashSign {
    is_sign: fn(&str) -> bool,
    cause: &'static str,
}

const CRASH_SIGNS: &[CrashSign] = &[
    CrashSign {
        is_sign: |line| has_any(line, &["can't open file", "Cannot find module", "No such file or directory", "FileNotFoundError"]),
        cause: "a path that does not exist here: paths start from the folder of this command, and files beside the agent's code need read: in a subject file",
    },
    CrashSign {
        is_sign: names_variable,
        cause: "a variable that the agent may not see: list its name under env: in subjects/NAME.yaml, and run --subject NAME",
    },
    CrashSign {
        is_sign: |line| has_any(line, &["Permission denied", "PermissionError", "EACCES", "Operation not permitted", "EPERM"]),
        cause: "the sandbox, which allows the working folder and no network: list ports under connect: and folders under read: in subjects/NAME.yaml, or try --sandbox none",
    },
    CrashSign {
        is_sign: |line| has_any(line, &["ModuleNotFoundError", "ImportError"]),
        cause: "a module that this interpreter does not have: install it, or name the interpreter that has it, such as .venv/bin/python agent.py",
    },
];

fn has_any(line: &str, signs: &[&str]) -> bool {
    signs.iter().any(|sign| line.contains(sign))
}

/// Returns whether a line is about an environment variable. A missing key of a mapping alone is not, unless it is written like one.
fn names_variable(line: &str) -> bool {
    let is_variable =
        |name: &str| name.len() > 2 && name.contains('_') && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let key = line.split_once("KeyError: ").map(|(_, key)| key.trim().trim_matches(['\'', '"']));
    key.is_some_and(is_variable) || has_any(line, &["API_KEY", "environment variable"])
}

/// Longest part of a quoted line.
const QUOTED_CHARS: usize = 120;

/// Returns what to do after a crash. The last line that suggests a cause is quoted, so that the reader can judge the suggestion.
fn crash_remedy(stderr: &str) -> String {
    let suggested = |line: &&str| CRASH_SIGNS.iter().any(|sign| (sign.is_sign)(line));
    let Some(line) = stderr.lines().rfind(suggested) else {
        let protocol = "an agent over process: stays until its stdin closes, one over mcp: exits with its answer";
        return if stderr.trim().is_empty() {
            format!("run the command by hand, since it printed nothing to stderr; {protocol}")
        } else {
            format!("read the last lines above; {protocol}")
        };
    };
    let cause = CRASH_SIGNS.iter().find(|sign| (sign.is_sign)(line)).map_or("", |sign| sign.cause);
    let quoted: String = line.trim().chars().take(QUOTED_CHARS).collect();
    format!("read the last lines above; \"{}\" suggests {cause}", escape_control(&quoted))
}

#[cfg(test)]
mod tests {
    use super::crash_remedy;

    #[test]
    fn remedies_of_crashes_quote_what_suggests_them() {
        for (stderr, remedy) in [
            ("python3: can't open file '/tmp/x/work/agnet.py': [Errno 2]", "a path that does not exist"),
            ("Traceback\nKeyError: 'OPENAI_API_KEY'", "\"KeyError: 'OPENAI_API_KEY'\" suggests a variable"),
            ("OSError: [Errno 13] Permission denied", "connect:"),
            ("ModuleNotFoundError: No module named 'mcp'", "a module"),
            ("", "run the command by hand"),
            ("KeyError: 'user'", "read the last lines above; an agent over process:"),
            ("loading: No such file or directory, ignored\nModuleNotFoundError: No module named 'mcp'", "a module"),
        ] {
            assert!(crash_remedy(stderr).contains(remedy), "{stderr}: {}", crash_remedy(stderr));
        }
    }
}
