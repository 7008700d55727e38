//! Report of a trial: timeline, scores with their evidence, and delegation tree.

mod agent_output;
mod agent_remedy;
mod diff;
mod event_printer;
mod json;
mod text;

use crate::args::ReportFormat;
use crate::io::CliOutput;
use crate::stored_runs::{LoadedTrial, OtherTrials};
pub(crate) use agent_output::{output_hint, output_lines};
pub(crate) use agent_remedy::agent_remedy;
pub(crate) use event_printer::EventPrinter;
pub(crate) use present::reading_text::reading_text;
use present::{amounts, delegation_tree, event_formatter};

use amounts::AmountFormatter;
use event_formatter::EventFormatter;
use model::{Reading, Score, Transcript, Workspace};
use serde_json::Value;

/// Shows a trial. `others` are further trials of the same case.
pub(crate) fn show(io: &CliOutput, workspace: &Workspace, trial: &LoadedTrial, others: &OtherTrials) -> String {
    let formatter = formatter_for(io, workspace, &trial.transcript);
    match io.format {
        ReportFormat::Json => json::render(&formatter, trial, others),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            text::render(io, &formatter, trial, others)
        }
    }
}

/// Compares two trials.
pub(crate) fn diff(io: &CliOutput, workspace: &Workspace, left: &LoadedTrial, right: &LoadedTrial) -> String {
    let found = diff::TrialDiff::of(workspace, left, right);
    match io.format {
        ReportFormat::Json => found.json(left, right),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            found.text(io, &formatter_for(io, workspace, &left.transcript), left, right)
        }
    }
}

/// Returns the events of a transcript line by line, each with the scores that cite it.
pub(crate) fn timeline(io: &CliOutput, workspace: &Workspace, transcript: &Transcript, scores: &[Score]) -> String {
    text::timeline(io, &formatter_for(io, workspace, transcript), transcript, scores)
}

pub(crate) fn timeline_json(io: &CliOutput, workspace: &Workspace, transcript: &Transcript, scores: &[Score]) -> Vec<Value> {
    json::timeline(&formatter_for(io, workspace, transcript), transcript, scores)
}

fn formatter_for<'w>(io: &CliOutput, workspace: &'w Workspace, transcript: &Transcript) -> EventFormatter<'w> {
    let case = workspace.case(&transcript.case);
    let world = case.and_then(|case| workspace.world(&case.brief.world));
    EventFormatter { amounts: AmountFormatter { workspace, world }, verbose: io.verbose }
}

/// Colour and mark of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScoreTone {
    Good,
    Bad,
    Unsure,
}

impl ScoreTone {
    fn of(reading: &Reading) -> Self {
        match reading {
            Reading::Tally { of: 0, .. } | Reading::Level(_) | Reading::Unscorable { .. } => ScoreTone::Unsure,
            Reading::Tally { hit, of } if hit == of => ScoreTone::Good,
            Reading::Tally { .. } => ScoreTone::Bad,
        }
    }

    fn mark(self) -> &'static str {
        match self {
            ScoreTone::Good => "✓",
            ScoreTone::Bad => "✗",
            ScoreTone::Unsure => "·",
        }
    }

    fn paint(self, io: &CliOutput, text: &str) -> String {
        match self {
            ScoreTone::Good => io.paint.good(text),
            ScoreTone::Bad => io.paint.bad(text),
            ScoreTone::Unsure => io.paint.unsure(text),
        }
    }
}
