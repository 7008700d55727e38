//! Remedies for agents that are programs: what to change after an ending that says that one does not work.

use crate::report::escape::escape_control;
use model::Ending;
use model::transcript::{FaultSource, LimitKind};

/// Returns what helps against an ending that says that an agent does not work.
pub(crate) fn agent_remedy(ending: &Ending, stderr: &str) -> String {
    let remedy = match ending {
        Ending::Crashed { why } if why.starts_with("it exited with code 0") => {
            "keep the program running: an agent over process: answers every line that it reads, and ends when its stdin closes"
        }
        Ending::Crashed { .. } => return crash_remedy(stderr),
        Ending::Hung => "flush each move, or give the agent more time with --timeout SECONDS, and start again",
        Ending::MalformedMove { why } => malformed_remedy(why),
        Ending::OverLimit { limit } => limit_remedy(*limit),
        Ending::Aborted { by: FaultSource::Provider, .. } => "start the agent's server, check its URL, and start again",
        Ending::Aborted { .. } => "check that the command can be started from this folder, and start again",
        Ending::Finished | Ending::Refused | Ending::GaveUp | Ending::Unfunded => "start again",
    };
    remedy.to_owned()
}

/// Returns the remedy for a move that cannot be read, by the part of the reason that tells the mistakes apart.
fn malformed_remedy(why: &str) -> &'static str {
    if why.contains("the moves are") {
        "answer with one of the moves above, and start again; docs/guide/subjects.md explains them"
    } else if why.contains("before the message that it would answer") {
        "print one move for each line that is read, and start again"
    } else {
        "print nothing but moves to stdout (logs go to stderr), and start again; docs/guide/subjects.md lists the moves"
    }
}

fn limit_remedy(limit: LimitKind) -> &'static str {
    match limit {
        LimitKind::Time => "give the agent more time with --timeout SECONDS, and start again",
        LimitKind::Turns | LimitKind::Calls | LimitKind::Tokens | LimitKind::Depth => {
            "look for a loop in the events above, or raise limits: in subjects/NAME.yaml, and run --subject NAME"
        }
        LimitKind::Output => "print only moves to stdout; logs go to stderr, which is not limited",
    }
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
        cause: "the sandbox, which allows no network and no writing outside of the working folder: if the agent is not meant to do this, mend the agent; else list ports under connect: and folders under read: in subjects/NAME.yaml, or try --sandbox none",
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
    use super::*;

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
    #[test]
    fn remedies_tell_mistakes_of_moves_and_ends_apart() {
        let malformed = |why: &str| Ending::MalformedMove { why: why.to_owned() };
        let crashed = |why: &str| Ending::Crashed { why: why.to_owned() };
        for (ending, remedy) in [
            (crashed("it exited with code 0"), "ends when its stdin closes"),
            (crashed("it exited with code 1"), "run the command by hand"),
            (malformed("\"{}\": it is not a valid move: unknown variant; the moves are {…}"), "one of the moves above"),
            (malformed("\"x\" was printed before the message that it would answer; read one line"), "one move for each line"),
            (malformed("\"Hello\": it is not JSON"), "logs go to stderr"),
            (Ending::OverLimit { limit: LimitKind::Time }, "--timeout"),
            (Ending::OverLimit { limit: LimitKind::Output }, "logs go to stderr"),
            (Ending::OverLimit { limit: LimitKind::Calls }, "raise limits:"),
        ] {
            assert!(agent_remedy(&ending, "").contains(remedy), "{ending}: {}", agent_remedy(&ending, ""));
        }
    }
}
