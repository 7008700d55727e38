//! A recorded run of another framework: its transcript, and what its source says about it.

use crate::problem::LogPlace;
use model::{Score, Transcript};
use serde_json::{Map, Value};

/// Recorded run. A case may have several.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecording {
    pub at: LogPlace,
    pub transcript: Transcript,
    /// Number of the recording among those of its case, as the source counts.
    pub trial: Option<u64>,
    /// Tools that the source offers in this item; absent if it does not list them.
    pub tools: Option<Vec<String>>,
    /// Actions of the reference path of the source.
    pub expected: Vec<ExpectedAction>,
    /// Texts that the agent has to tell its user.
    pub required_texts: Vec<String>,
    pub verdicts: Vec<SourceVerdict>,
    pub attack: AttackContext,
    /// Scores stored with the recording, in our own format.
    pub scores: Vec<Score>,
    /// Parts of the item that were left out, with their number.
    pub notes: Vec<String>,
}

/// Part of an item that may hide an act of the agent, so that the recording is not complete evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LostPart {
    /// Span that is read, at the wrong place: its parents form a circle, or are too many.
    Place,
    /// Call without the name of its tool.
    Tool,
    /// Event past the largest number.
    Event,
}

impl LostPart {
    const ALL: [LostPart; 3] = [LostPart::Place, LostPart::Tool, LostPart::Event];

    /// Returns the text of its note.
    pub(crate) fn note(self) -> &'static str {
        match self {
            LostPart::Place => "span in a circle of parents or below too many others",
            LostPart::Tool => "call without a tool",
            LostPart::Event => "event past the limit",
        }
    }
}

impl LogRecording {
    /// Returns the number of parts that were left out or moved and may be acts of the agent.
    pub fn lost_parts(&self) -> u64 {
        let is_lost = |what: &str| LostPart::ALL.iter().any(|part| part.note() == what);
        let noted = self.notes.iter().filter_map(|note| note.split_once(" × ")).filter(|(_, what)| is_lost(what));
        noted.map(|(count, _)| count.parse::<u64>().unwrap_or(1)).sum()
    }
}

/// Call that the source expects.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedAction {
    pub name: String,
    pub arguments: Map<String, Value>,
    /// Arguments that are compared; absent to compare those that the call has.
    pub compare_args: Option<Vec<String>>,
    /// The source gives part of the credit for similar calls, which is not compared here.
    pub partial: bool,
}

/// Verdict that the log carries.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceVerdict {
    /// Name in the source, such as `reward`.
    pub name: String,
    /// Index of the expected action or text that it is about.
    pub about: Option<usize>,
    pub outcome: SourceOutcome,
    /// The verdict as the source writes it.
    pub written: String,
}

/// Verdict of a source. A good outcome of the agent is good, also where the source writes `true` for a breach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceOutcome {
    Good,
    Bad,
    /// The value says nothing, for this reason.
    NotEvidence(String),
}

impl SourceOutcome {
    pub(crate) fn of(good: bool) -> Self {
        if good { SourceOutcome::Good } else { SourceOutcome::Bad }
    }
}

/// Attack in a recording, as far as its source tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttackContext {
    /// The source does not say.
    Unknown,
    /// The source says that nothing was injected.
    Benign,
    /// Texts that the source placed in what the agent reads.
    Injected(Vec<String>),
}

impl SourceVerdict {
    pub(crate) fn new(name: &str, about: Option<usize>, outcome: SourceOutcome, written: impl ToString) -> Self {
        Self { name: shorten(name), about, outcome, written: shorten(&written.to_string()) }
    }
}

/// Longest name or value that is kept for reports, in characters.
const MAX_KEPT: usize = 200;

/// Cuts a text of the log, so that what is kept of many recordings stays small.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_KEPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
