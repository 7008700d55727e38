//! Exports of stored trials, one format each. Every function returns the text of one trial; the caller writes it.

pub mod csv;
pub mod inspect;
pub mod jsonl;
pub mod otlp;

use model::{EventKind, Score, Transcript};

/// Trial of a stored run.
#[derive(Debug, Clone, Copy)]
pub struct ExportedTrial<'t> {
    /// Id of the run.
    pub run: &'t str,
    /// Begin of the run, UTC, ISO 8601, and as milliseconds since 1970.
    pub started: &'t str,
    pub started_ms: u64,
    pub n: u64,
    pub seed: u64,
    pub wall_us: u64,
    pub transcript: &'t Transcript,
    pub scores: &'t [Score],
}

impl ExportedTrial<'_> {
    /// Returns the name of the ending, without its reason.
    fn ending_word(&self) -> String {
        let written = serde_json::to_value(&self.transcript.ending).unwrap_or_default();
        written.get("ending").and_then(|word| word.as_str()).unwrap_or_default().to_owned()
    }

    fn first_user_text(&self) -> &str {
        let text = self.transcript.events.iter().find_map(|event| match &event.happened {
            EventKind::UserSaid { text } => Some(text.as_str()),
            _ => None,
        });
        text.unwrap_or_default()
    }
}
