//! GitHub Actions annotations: each finding at the file and line of its case.

use super::escape::replace_hidden;
use super::gate_lines::gate_lines;
use super::judgement_text::value_and_bound;
use super::{RunReport, comparison_lines, deviations, screen};
use crate::io::CliOutput;
use model::{Location, UserError, Verdict, Workspace};
use score::checks::{CheckFinding, CheckResult, FindingLevel};

/// GitHub shows at most ten annotations of a level per step.
const MAX_ANNOTATIONS: usize = 10;

pub(super) fn problems(io: &CliOutput, errors: &[UserError]) -> String {
    let row =
        |error: &UserError| workflow_command(io, "error", error.location.as_ref(), "bardo-eval", &message(&error.what, &error.remedy));
    errors.iter().take(MAX_ANNOTATIONS).map(row).collect()
}

/// Joins what and remedy with a line break.
fn message(what: &str, remedy: &str) -> String {
    if remedy.is_empty() { what.to_owned() } else { format!("{what}\n{remedy}") }
}

pub(super) fn smoke(io: &CliOutput, workspace: &Workspace, results: &[CheckResult]) -> String {
    let mut text = deviation_notices(io, workspace);
    for (level, word) in [(FindingLevel::Error, "error"), (FindingLevel::Warning, "warning")] {
        // One per check before the second of any, so that a check with many findings hides no other.
        let mut found: Vec<(usize, &CheckFinding)> =
            results.iter().flat_map(|result| result.findings.iter().filter(|finding| finding.level == level).enumerate()).collect();
        found.sort_by_key(|(n, _)| *n);
        for (_, finding) in found.into_iter().take(MAX_ANNOTATIONS) {
            text.push_str(&workflow_command(io, word, Some(&finding.at), finding.check, &message(&finding.what, &finding.remedy)));
        }
    }
    text
}

/// Annotates one case of each missed gate, safety first, then worst first, and each gate without evidence.
pub(super) fn run(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let mut text = deviation_notices(io, shown.workspace);
    let lines = gate_lines(shown.workspace, &shown.summary.verdicts.judgements);
    let of = |verdict| lines.iter().filter(move |line| line.verdict == verdict);
    for line in of(Verdict::Missed).take(MAX_ANNOTATIONS) {
        let title = format!("{} missed: {}", line.gate, value_and_bound(line.worst));
        let worst = line.worst.worst.first();
        let at = worst.and_then(|worst| Some(&shown.workspace.case(&worst.case)?.at)).or_else(|| gate_location(shown.workspace, line.gate));
        let message = worst.map_or_else(|| line.worst.because.clone(), |worst| format!("{}: {}", worst.case, worst.because));
        text.push_str(&workflow_command(io, "error", at, &title, &message));
    }
    for line in of(Verdict::NoEvidence).take(MAX_ANNOTATIONS) {
        let title = format!("{} has no evidence", line.gate);
        let message = format!("{}: {}", line.worst.metric.slice, line.worst.because);
        text.push_str(&workflow_command(io, "warning", gate_location(shown.workspace, line.gate), &title, &message));
    }
    let provenance: Vec<String> = shown.provenance().into_iter().map(|(name, value)| format!("{name} {value}")).collect();
    let compared = shown.comparison().iter().flat_map(comparison_lines).collect::<Vec<_>>();
    let lines = [vec![screen::verdict_line(shown)], compared, vec![provenance.join(", ")]].concat();
    text.push_str(&workflow_command(io, "notice", None, "bardo-eval", &lines.join("\n")));
    text
}

fn gate_location<'w>(workspace: &'w Workspace, gate: &str) -> Option<&'w Location> {
    workspace.gates.iter().find(|one| *one.id == gate).map(|gate| &gate.id.at)
}

fn deviation_notices(io: &CliOutput, workspace: &Workspace) -> String {
    let lines = deviations::lines(io, workspace);
    lines.iter().take(MAX_ANNOTATIONS).map(|line| workflow_command(io, "notice", None, "deviates", line)).collect()
}

fn workflow_command(io: &CliOutput, word: &str, at: Option<&Location>, title: &str, message: &str) -> String {
    let place = at.map_or_else(String::new, |at| {
        let line = if at.line == 0 { String::new() } else { format!("line={},", at.line) };
        format!("file={},{line}", escape_property(&io.file_path(at)))
    });
    format!("::{word} {place}title={}::{}\n", escape_property(title), escape_data(message))
}

/// Escapes text so that it cannot start another workflow command.
fn escape_data(text: &str) -> String {
    replace_hidden(text).replace('%', "%25").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
