//! Workflow commands of GitHub Actions: each finding stands beside the line of the case or file it is about.

use super::Shown;
use crate::io::Io;
use model::{Place, UserError, Verdict};
use score::checks::{CheckResult, Level};

/// GitHub shows ten annotations of a kind for each step; more would only hide them.
const MOST: usize = 10;

pub(super) fn problems(io: &Io, errors: &[UserError]) -> String {
    let row = |error: &UserError| command(io, "error", error.place.as_ref(), "bardo-eval", &message(&error.what, &error.remedy));
    errors.iter().take(MOST).map(row).collect()
}

/// The remedy on a line of its own.
fn message(what: &str, remedy: &str) -> String {
    if remedy.is_empty() { what.to_owned() } else { format!("{what}\n{remedy}") }
}

pub(super) fn smoke(io: &Io, results: &[CheckResult]) -> String {
    let mut text = String::new();
    for (level, word) in [(Level::Error, "error"), (Level::Warning, "warning")] {
        let found = results.iter().flat_map(|result| &result.findings).filter(|finding| finding.level == level);
        for finding in found.take(MOST) {
            text.push_str(&command(io, word, Some(&finding.at), finding.check, &message(&finding.what, &finding.remedy)));
        }
    }
    text
}

/// The worst cases of missed gates at the case, then gates without evidence at their row.
pub(super) fn run(io: &Io, shown: &Shown<'_>) -> String {
    let (mut text, mut told) = (String::new(), vec![]);
    let missed = shown.summary.verdicts.judgements.iter().filter(|judgement| judgement.verdict == Verdict::Missed);
    for (judgement, worst) in missed.flat_map(|judgement| judgement.worst.iter().map(move |worst| (judgement, worst))) {
        let Some(case) = shown.workspace.case(&worst.case) else { continue };
        let key = (worst.case.as_str(), worst.because.as_str());
        if told.len() < MOST && !told.contains(&key) {
            told.push(key);
            let title = format!("{} missed", judgement.gate);
            text.push_str(&command(io, "error", Some(&case.at), &title, &format!("{}: {}", worst.case, worst.because)));
        }
    }
    let silent = shown.summary.verdicts.judgements.iter().filter(|judgement| judgement.verdict == Verdict::NoEvidence);
    for judgement in silent.take(MOST) {
        let Some(gate) = shown.workspace.gates.iter().find(|gate| *gate.id == judgement.gate) else { continue };
        let title = format!("{} has no evidence", judgement.gate);
        text.push_str(&command(io, "warning", Some(&gate.id.at), &title, &format!("{}: {}", judgement.metric.slice, judgement.because)));
    }
    text
}

fn command(io: &Io, word: &str, at: Option<&Place>, title: &str, message: &str) -> String {
    let place = at.map_or_else(String::new, |at| {
        let line = if at.line == 0 { String::new() } else { format!("line={},", at.line) };
        format!("file={},{line}", property(&io.file(at)))
    });
    format!("::{word} {place}title={}::{}\n", property(title), data(message))
}

/// What files say must not become another command.
fn data(text: &str) -> String {
    let cleaned: String = text.chars().map(|c| if c.is_control() && c != '\n' && c != '\r' { '\u{fffd}' } else { c }).collect();
    cleaned.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
