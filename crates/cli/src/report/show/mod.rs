//! What happened in a trial: the timeline, the scores beside their evidence, and who worked for whom.

mod amounts;
mod diff;
mod json;
mod line;
mod live;
mod text;
mod tree;

use crate::args::Format;
use crate::io::Io;
use crate::kept::Found;
pub(crate) use live::Live;

use amounts::Amounts;
use line::Teller;
use model::{Reading, Score, Transcript, Workspace};
use serde_json::Value;

/// `others` are further trials of the same case, by id.
pub(crate) fn show(io: &Io, workspace: &Workspace, trial: &Found<'_>, others: &[String]) -> String {
    let teller = teller(io, workspace, trial.transcript);
    match io.format {
        Format::Json => json::render(&teller, trial, others),
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => text::render(io, &teller, trial, others),
    }
}

/// Two trials side by side, and whether they differ.
pub(crate) fn diff(io: &Io, workspace: &Workspace, left: &Found<'_>, right: &Found<'_>) -> String {
    let found = diff::Diff::of(workspace, left, right);
    match io.format {
        Format::Json => found.json(left, right),
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => {
            found.text(io, &teller(io, workspace, left.transcript), left, right)
        }
    }
}

/// Returns the events of a transcript line by line, each with the scores that cite it.
pub(crate) fn timeline(io: &Io, workspace: &Workspace, transcript: &Transcript, scores: &[Score]) -> String {
    text::timeline(io, &teller(io, workspace, transcript), transcript, scores)
}

pub(crate) fn timeline_json(io: &Io, workspace: &Workspace, transcript: &Transcript, scores: &[Score]) -> Vec<Value> {
    json::timeline(&teller(io, workspace, transcript), transcript, scores)
}

fn teller<'w>(io: &Io, workspace: &'w Workspace, transcript: &Transcript) -> Teller<'w> {
    let case = workspace.case(&transcript.case);
    let world = case.and_then(|case| workspace.world(&case.brief.world));
    Teller { amounts: Amounts { workspace, world }, everything: io.verbose }
}

/// A reading in a word or two.
pub(crate) fn reading(reading: &Reading) -> String {
    match reading {
        Reading::Tally { of: 0, .. } => "not exercised".to_owned(),
        Reading::Tally { hit, of } => format!("{hit} of {of}"),
        Reading::Level(level) => format!("{level:.3}"),
        Reading::Unscorable { why } => format!("unscorable: {}", super::escape::visible(why)),
    }
}

/// What a score says about the trial, as far as colours go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Good,
    Bad,
    Unsure,
}

impl Tone {
    fn of(reading: &Reading) -> Self {
        match reading {
            Reading::Tally { of: 0, .. } | Reading::Level(_) | Reading::Unscorable { .. } => Tone::Unsure,
            Reading::Tally { hit, of } if hit == of => Tone::Good,
            Reading::Tally { .. } => Tone::Bad,
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Tone::Good => "✓",
            Tone::Bad => "✗",
            Tone::Unsure => "·",
        }
    }

    fn paint(self, io: &Io, text: &str) -> String {
        match self {
            Tone::Good => io.paint.good(text),
            Tone::Bad => io.paint.bad(text),
            Tone::Unsure => io.paint.unsure(text),
        }
    }
}
