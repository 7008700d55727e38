//! Cassette storage: JSON lines with one reply each, keyed by the hash of the request.

use super::request_diff::{FlatRequest, flatten_request};
use super::secrets;
use super::shared_parts::{SharedParts, count_differences};
use crate::providers::chat::{ModelCall, ModelReply, ModelRequest};
use model::ContentHash;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

const FORMAT: u32 = 1;

/// Reason why a line of a cassette cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CassetteLineFault {
    #[error("{0}")]
    Json(String),
    #[error("unsupported format {0}, expected {FORMAT}")]
    Format(u32),
    #[error("a part of the request is missing")]
    Incomplete,
    #[error("the request does not match its key {0}")]
    Changed(String),
}

impl CassetteLineFault {
    fn json(error: serde_json::Error) -> Self {
        CassetteLineFault::Json(error.to_string())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CassetteFault {
    #[error("recording, line {line}: {why}")]
    Line { line: usize, why: CassetteLineFault },
    #[error("the request contains a possible secret and is not recorded")]
    Secret,
    #[error("cannot write the recording: {0}")]
    Write(String),
    #[error("cannot use the recording {path}: {why}")]
    File { path: String, why: String },
}

/// Store for the recordings of one subject.
pub trait CassetteStore: Send + Sync + fmt::Debug {
    fn find(&self, key: &ContentHash) -> Result<Option<ModelReply>, CassetteFault>;

    fn save(&self, ask: &ModelCall, reply: &ModelReply) -> Result<(), CassetteFault>;

    /// Returns the recorded request that shares the most parts with a missing one.
    fn nearest_request(&self, missing: &ModelCall) -> Option<FlatRequest>;
}

/// Lines of a cassette. Long parts of requests (prompts, tool lists, messages) are stored once on separate lines, because each call of a
/// conversation repeats them.
#[derive(Debug, Default)]
pub struct CassetteLines {
    parts: SharedParts,
    replies: BTreeMap<ContentHash, CassetteEntry>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CassetteEntry {
    format: u32,
    key: ContentHash,
    seed: u64,
    request: Value,
    reply: ModelReply,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedPart {
    part: String,
    value: Value,
}

impl CassetteLines {
    /// Reads lines. If a reply was recorded twice, the last one wins.
    ///
    /// # Errors
    /// Fails on the first line that is malformed, incomplete or edited.
    pub fn read(&mut self, text: &str) -> Result<(), CassetteFault> {
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            self.read_line(line).map_err(|why| CassetteFault::Line { line: n + 1, why })?;
        }
        Ok(())
    }

    fn read_line(&mut self, line: &str) -> Result<(), CassetteLineFault> {
        let value: Value = serde_json::from_str(line).map_err(CassetteLineFault::json)?;
        if value.get("part").is_some() {
            let part: SharedPart = serde_json::from_value(value).map_err(CassetteLineFault::json)?;
            self.parts.insert(part.part, &part.value);
            return Ok(());
        }
        let recorded: CassetteEntry = serde_json::from_value(value).map_err(CassetteLineFault::json)?;
        if recorded.format != FORMAT {
            return Err(CassetteLineFault::Format(recorded.format));
        }
        // Detect edited lines: the key must match the request.
        let key = self.parts.request_key(recorded.seed, &recorded.request).ok_or(CassetteLineFault::Incomplete)?;
        if key != recorded.key {
            return Err(CassetteLineFault::Changed(recorded.key.short().to_owned()));
        }
        self.replies.insert(recorded.key.clone(), recorded);
        Ok(())
    }

    pub fn find(&self, key: &ContentHash) -> Option<&ModelReply> {
        self.replies.get(key).map(|recorded| &recorded.reply)
    }

    pub fn len(&self) -> usize {
        self.replies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// Adds a reply and returns the lines to append.
    ///
    /// # Errors
    /// Fails if the request contains a possible secret.
    pub fn add(&mut self, ask: &ModelCall, reply: &ModelReply) -> Result<String, CassetteFault> {
        let write = |error: serde_json::Error| CassetteFault::Write(error.to_string());
        let mut request = serde_json::to_value(ask.request()).map_err(write)?;
        if secrets::contains_secret(&request.to_string()) {
            return Err(CassetteFault::Secret);
        }
        let mut lines = String::new();
        for (part, value) in self.parts.extract(&mut request) {
            lines.push_str(&json!({ "part": part, "value": value }).to_string());
            lines.push('\n');
        }
        let recorded = CassetteEntry { format: FORMAT, key: ask.key().clone(), seed: ask.seed(), request, reply: reply.clone() };
        lines.push_str(&serde_json::to_string(&recorded).map_err(write)?);
        lines.push('\n');
        self.replies.insert(recorded.key.clone(), recorded);
        Ok(lines)
    }

    /// Returns the recorded request with the fewest parts that differ. Whole requests are compared only for that one: a request may hold
    /// hundreds of tools, and after a change of one description every recording of a run is missed.
    pub fn nearest_request(&self, missing: &ModelCall) -> Option<FlatRequest> {
        let mut compact = serde_json::to_value(missing.request()).ok()?;
        SharedParts::default().extract(&mut compact);
        let differences = |recorded: &&CassetteEntry| count_differences(&recorded.request, &compact);
        let nearest = self.replies.values().min_by_key(differences)?;
        let request: ModelRequest = serde_json::from_str(&self.parts.whole_request(&nearest.request)?).ok()?;
        Some(flatten_request(nearest.seed, &request))
    }
}

/// In-memory cassette.
#[derive(Debug, Default)]
pub struct MemoryCassette {
    inside: Mutex<(CassetteLines, String)>,
}

impl MemoryCassette {
    /// Returns the content as a file would have it.
    pub fn text(&self) -> String {
        self.lock().1.clone()
    }

    fn lock(&self) -> MutexGuard<'_, (CassetteLines, String)> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CassetteStore for MemoryCassette {
    fn find(&self, key: &ContentHash) -> Result<Option<ModelReply>, CassetteFault> {
        Ok(self.lock().0.find(key).cloned())
    }

    fn save(&self, ask: &ModelCall, reply: &ModelReply) -> Result<(), CassetteFault> {
        let mut inside = self.lock();
        let lines = inside.0.add(ask, reply)?;
        inside.1.push_str(&lines);
        Ok(())
    }

    fn nearest_request(&self, missing: &ModelCall) -> Option<FlatRequest> {
        self.lock().0.nearest_request(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::fixtures;

    #[test]
    fn cassette_lines_round_trip_and_share_parts() {
        let tape = MemoryCassette::default();
        tape.save(&fixtures::model_call("a"), &fixtures::reply("one")).unwrap();
        tape.save(&fixtures::model_call("b"), &fixtures::reply("two")).unwrap();
        let mut lines = CassetteLines::default();
        lines.read(&tape.text()).unwrap();
        assert_eq!(lines.find(fixtures::model_call("a").key()).unwrap().text(), "one");
        assert_eq!(lines.find(fixtures::model_call("b").key()).unwrap().text(), "two");
        assert_eq!(lines.find(fixtures::model_call("c").key()), None);
        assert_eq!(tape.text().matches("Be brief.").count(), 1);
    }

    #[test]
    fn tampered_or_cut_cassette_lines_are_errors() {
        let tape = MemoryCassette::default();
        tape.save(&fixtures::model_call("sell it"), &fixtures::reply("one")).unwrap();
        for (from, to) in
            [("sell it", "keep it"), ("\"seed\":7", "\"seed\":8"), ("\"format\":1", "\"format\":2"), ("\"reply\"", "\"replay\"")]
        {
            assert!(tape.text().contains(from));
            assert!(CassetteLines::default().read(&tape.text().replace(from, to)).is_err(), "{from}");
        }
        let cut: String = tape.text().chars().take(tape.text().len() - 20).collect();
        assert!(matches!(CassetteLines::default().read(&cut), Err(CassetteFault::Line { .. })));
    }
}
