//! One JSON object per trial, with everything that scores are based on. `score --from jsonl` reads it back.

use super::ExportedTrial;
use crate::formats::jsonl::{JsonlTrial, VERSION};
use std::borrow::Cow;

/// Returns the line of a trial, without a line break.
pub fn trial_line(trial: &ExportedTrial<'_>) -> String {
    let transcript = trial.transcript;
    let line = JsonlTrial {
        version: VERSION,
        run: Cow::Borrowed(trial.run),
        trial: transcript.trial.clone(),
        case: Cow::Borrowed(&transcript.case),
        subject: Cow::Borrowed(&transcript.subject),
        seed: trial.seed,
        ending: transcript.ending.clone(),
        events: Cow::Borrowed(&transcript.events),
        scores: Cow::Borrowed(trial.scores),
    };
    // Events and scores are plain data, so serialization cannot fail.
    serde_json::to_string(&line).unwrap_or_else(|error| panic!("a trial cannot be serialized: {error}"))
}
