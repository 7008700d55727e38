//! Our own export: one trial per line, with its events and scores.

use super::ItemError;
use crate::problem::LogPlace;
use crate::recording::{AttackContext, LogRecording};
use model::{ContentHash, Ending, Event, Score, Transcript};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Version of the lines. Readers refuse later ones.
pub(crate) const VERSION: u32 = 1;

/// Line of the export.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct JsonlTrial<'t> {
    #[serde(default)]
    pub version: u32,
    #[serde(default)]
    pub run: Cow<'t, str>,
    pub trial: ContentHash,
    pub case: Cow<'t, str>,
    pub subject: Cow<'t, str>,
    #[serde(default)]
    pub seed: u64,
    pub ending: Ending,
    pub events: Cow<'t, [Event]>,
    #[serde(default)]
    pub scores: Cow<'t, [Score]>,
}

/// Reads a line.
pub(crate) fn read(line: &[u8], at: &LogPlace) -> Result<LogRecording, ItemError> {
    let line: JsonlTrial<'_> = serde_json::from_slice(line).map_err(|error| format!("this is not a trial of bardo-eval: {error}"))?;
    if line.version > VERSION {
        return Err(format!("the line has version {}, this program reads {VERSION}", line.version));
    }
    let (case, subject) = (line.case.into_owned(), line.subject.into_owned());
    Ok(LogRecording {
        at: at.clone(),
        transcript: Transcript { trial: line.trial, case, subject, events: line.events.into_owned(), ending: line.ending },
        trial: Some(line.seed),
        tools: None,
        expected: vec![],
        required_texts: vec![],
        verdicts: vec![],
        attack: AttackContext::Unknown,
        scores: line.scores.into_owned(),
        notes: vec![],
    })
}
