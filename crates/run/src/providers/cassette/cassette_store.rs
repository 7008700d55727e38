//! Cassette storage: JSON lines with one reply each, keyed by the hash of the request.

use super::request_diff::{FlatRequest, flatten_request};
use super::secrets;
use crate::providers::chat::{ModelCall, ModelReply, ModelRequest, request_key};
use model::ContentHash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
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

    /// Returns all recorded requests, used to find the nearest one to a miss.
    fn recorded_requests(&self) -> Vec<FlatRequest>;
}

/// Lines of a cassette. Long parts of requests (prompts, tool lists, messages) are stored once on separate lines, because each call of a
/// conversation repeats them.
#[derive(Debug, Default)]
pub struct CassetteLines {
    parts: BTreeMap<String, Value>,
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

const PART_FIELDS: [&str; 2] = ["system", "tools"];

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
            self.parts.insert(part.part, part.value);
            return Ok(());
        }
        let recorded: CassetteEntry = serde_json::from_value(value).map_err(CassetteLineFault::json)?;
        if recorded.format != FORMAT {
            return Err(CassetteLineFault::Format(recorded.format));
        }
        // Detect edited lines: the key must match the request.
        let request = self.restore_parts(&recorded.request).ok_or(CassetteLineFault::Incomplete)?;
        let key = request_key(recorded.seed, &request);
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
        if let Value::Object(fields) = &mut request {
            for name in PART_FIELDS {
                if let Some(value) = fields.get_mut(name) {
                    self.extract_part(value, &mut lines);
                }
            }
            if let Some(Value::Array(messages)) = fields.get_mut("messages") {
                messages.iter_mut().for_each(|message| self.extract_part(message, &mut lines));
            }
        }
        let recorded = CassetteEntry { format: FORMAT, key: ask.key().clone(), seed: ask.seed(), request, reply: reply.clone() };
        lines.push_str(&serde_json::to_string(&recorded).map_err(write)?);
        lines.push('\n');
        self.replies.insert(recorded.key.clone(), recorded);
        Ok(lines)
    }

    fn extract_part(&mut self, value: &mut Value, lines: &mut String) {
        let name = ContentHash::of_json(value).as_str()[..16].to_owned();
        let value = std::mem::replace(value, json!({ "part": name }));
        self.parts.entry(name).or_insert_with_key(|name| {
            lines.push_str(&json!({ "part": name, "value": value }).to_string());
            lines.push('\n');
            value
        });
    }

    /// Returns a request with its shared parts inserted. `None` if a part is missing.
    fn restore_parts(&self, request: &Value) -> Option<Value> {
        let put_back = |value: &Value| match value.get("part").and_then(Value::as_str) {
            Some(part) => self.parts.get(part).cloned(),
            None => Some(value.clone()),
        };
        let mut whole = Map::new();
        for (name, value) in request.as_object()? {
            let value = match value {
                Value::Array(items) if name == "messages" => items.iter().map(put_back).collect::<Option<_>>().map(Value::Array)?,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => put_back(value)?,
            };
            whole.insert(name.clone(), value);
        }
        Some(Value::Object(whole))
    }

    pub fn flat_requests(&self) -> Vec<FlatRequest> {
        let request = |recorded: &CassetteEntry| serde_json::from_value::<ModelRequest>(self.restore_parts(&recorded.request)?).ok();
        self.replies.values().filter_map(|recorded| Some(flatten_request(recorded.seed, &request(recorded)?))).collect()
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

    fn recorded_requests(&self) -> Vec<FlatRequest> {
        self.lock().0.flat_requests()
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
