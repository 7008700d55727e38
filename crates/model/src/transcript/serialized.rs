//! A transcript as it is kept: written once, and hashed over exactly what was written.

use super::Transcript;
use crate::hash::ContentHash;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SerializedTranscript {
    /// JSON array.
    pub events: String,
    /// JSON object.
    pub ending: String,
    /// Of what happened, whichever trial it happened in: equal transcripts are one piece of evidence.
    pub content_hash: ContentHash,
}

impl Transcript {
    pub fn to_serialized(&self) -> SerializedTranscript {
        // Events are plain data; if they were not JSON, a hash of something else would be a lie.
        let json = |text: serde_json::Result<String>| text.unwrap_or_else(|error| panic!("a transcript is always JSON: {error}"));
        let events = json(serde_json::to_string(&self.events));
        let ending = json(serde_json::to_string(&self.ending));
        let content = ContentHash::of_parts(&[&events, "\n", &ending]);
        SerializedTranscript { events, ending, content_hash: content }
    }
}
