//! A transcript as it is kept: written once, and hashed over exactly what was written.

use super::Transcript;
use crate::hash::Hash;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// JSON array.
    pub events: String,
    /// JSON object.
    pub ending: String,
    /// Of what happened, whichever trial it happened in: equal transcripts are one piece of evidence.
    pub content: Hash,
}

impl Transcript {
    pub fn written(&self) -> Written {
        // Events are plain data; if they were not JSON, a hash of something else would be a lie.
        let json = |text: serde_json::Result<String>| text.unwrap_or_else(|error| panic!("a transcript is always JSON: {error}"));
        let events = json(serde_json::to_string(&self.events));
        let ending = json(serde_json::to_string(&self.ending));
        let content = Hash::of_parts(&[&events, "\n", &ending]);
        Written { events, ending, content }
    }
}
