//! Output of an external agent: what it logged, and whether its moves can have arrived.

use crate::io::CliOutput;
use crate::report::escape::escape_control;
use ::run::external::telling_line;
use model::Ending;
use store::AgentOutput;

/// Lines of stderr that are shown without `--verbose`.
const SHOWN_LINES: usize = 10;

/// Characters of a line of stderr that are shown without `--verbose`; one line may be all that is kept.
const SHOWN_CHARS: usize = 300;

/// Returns the end of stderr; with `--verbose` all that is kept.
pub(crate) fn output_lines(io: &CliOutput, output: &AgentOutput) -> Vec<String> {
    let lines: Vec<&str> = output.stderr.lines().collect();
    if lines.is_empty() {
        return vec![];
    }
    let from = if io.verbose { 0 } else { lines.len().saturating_sub(SHOWN_LINES) };
    let head = match from {
        0 => "stderr of the agent".to_owned(),
        hidden => format!("stderr of the agent, last {SHOWN_LINES} lines; {} before them with --verbose", model::count(hidden, "line")),
    };
    let part = |line: &str| if io.verbose { line.to_owned() } else { model::shortened(line, SHOWN_CHARS) };
    let shown = lines[from..].iter().map(|line| format!("  {}", escape_control(&part(line))));
    std::iter::once(io.paint.dim(&head)).chain(shown).collect()
}

/// Returns what the output tells about a trial that hung or crashed, in one line.
pub(crate) fn output_hint(ending: &Ending, output: &AgentOutput) -> Option<String> {
    let line = telling_line(&output.stderr).map(|line| model::shortened(line.trim(), SHOWN_CHARS));
    let line = line.map(|line| format!("; its stderr says: {}", escape_control(&line)));
    let line = line.unwrap_or_default();
    match ending {
        Ending::Hung if output.stdout_bytes == 0 => {
            Some(format!("it has printed nothing to stdout: end each move with a line break and flush it, as with print(…, flush=True){line}"))
        }
        Ending::Hung => Some(format!("it has printed {} to stdout and then no further line{line}", model::count(output.stdout_bytes, "byte"))),
        Ending::Finished
        | Ending::Refused
        | Ending::GaveUp
        // Its reason has the line already.
        | Ending::Crashed { .. }
        | Ending::MalformedMove { .. }
        | Ending::OverLimit { .. }
        | Ending::Aborted { .. }
        | Ending::Unfunded => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hang_without_output_hints_at_flushing() {
        let silent = AgentOutput { stdout_bytes: 0, stderr: "loading\nready\n".into() };
        let hint = output_hint(&Ending::Hung, &silent).unwrap();
        assert!(hint.contains("nothing to stdout") && hint.contains("flush") && hint.ends_with("its stderr says: ready"), "{hint}");
        let partial = AgentOutput { stdout_bytes: 12, stderr: String::new() };
        let hint = output_hint(&Ending::Hung, &partial).unwrap();
        assert!(hint.contains("12 bytes") && !hint.contains("nothing"), "{hint}");
        assert_eq!(output_hint(&Ending::Finished, &silent), None);
    }
}
