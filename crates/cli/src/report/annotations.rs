//! GitHub Actions annotations: each finding at the file and line of its case.

use super::escape::replace_hidden;
use super::{RunReport, deviations};
use crate::io::CliOutput;
use model::{Location, UserError, Verdict, Workspace};
use score::checks::{CheckResult, FindingLevel};

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
        let found = results.iter().flat_map(|result| &result.findings).filter(|finding| finding.level == level);
        for finding in found.take(MAX_ANNOTATIONS) {
            text.push_str(&workflow_command(io, word, Some(&finding.at), finding.check, &message(&finding.what, &finding.remedy)));
        }
    }
    text
}

/// Annotates the worst cases of missed gates, then gates without evidence.
pub(super) fn run(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let (mut text, mut seen) = (deviation_notices(io, shown.workspace), vec![]);
    let missed = shown.summary.verdicts.judgements.iter().filter(|judgement| judgement.verdict == Verdict::Missed);
    for (judgement, worst) in missed.flat_map(|judgement| judgement.worst.iter().map(move |worst| (judgement, worst))) {
        let Some(case) = shown.workspace.case(&worst.case) else { continue };
        let key = (worst.case.as_str(), worst.because.as_str());
        if seen.len() < MAX_ANNOTATIONS && !seen.contains(&key) {
            seen.push(key);
            let title = format!("{} missed", judgement.gate);
            text.push_str(&workflow_command(io, "error", Some(&case.at), &title, &format!("{}: {}", worst.case, worst.because)));
        }
    }
    let without_evidence = shown.summary.verdicts.judgements.iter().filter(|judgement| judgement.verdict == Verdict::NoEvidence);
    for judgement in without_evidence.take(MAX_ANNOTATIONS) {
        let Some(gate) = shown.workspace.gates.iter().find(|gate| *gate.id == judgement.gate) else { continue };
        let title = format!("{} has no evidence", judgement.gate);
        text.push_str(&workflow_command(
            io,
            "warning",
            Some(&gate.id.at),
            &title,
            &format!("{}: {}", judgement.metric.slice, judgement.because),
        ));
    }
    text
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
    replace_hidden(&text.replace("##[", "##\\[")).replace('%', "%25").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
