//! Serialized form of a transcript. The content hash covers exactly the stored bytes.

use super::Transcript;
use crate::hash::ContentHash;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SerializedTranscript {
    /// JSON array.
    pub events: String,
    /// JSON object.
    pub ending: String,
    /// Hash of events and ending, without the trial, so that equal transcripts can be counted once.
    pub content_hash: ContentHash,
}

impl Transcript {
    /// Serializes events and ending, and hashes them.
    pub fn to_serialized(&self) -> SerializedTranscript {
        // Events are plain data, so serialization cannot fail. A fallback value would falsify the hash.
        let json = |text: serde_json::Result<String>| text.unwrap_or_else(|error| panic!("a transcript cannot be serialized: {error}"));
        let events = json(serde_json::to_string(&self.events));
        let ending = json(serde_json::to_string(&self.ending));
        let content = ContentHash::of_parts(&[&events, "\n", &ending]);
        SerializedTranscript { events, ending, content_hash: content }
    }
}
