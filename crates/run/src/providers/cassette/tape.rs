//! What recordings are written on: lines of JSON, one reply each, filed under the hash of the request.

use super::difference::{Flat, flat};
use super::secrets;
use crate::providers::talk::{Ask, Reply, Request, key_of};
use model::Hash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

const FORMAT: u32 = 1;

/// Reason that one line of a recording cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    #[error("{0}")]
    Json(String),
    #[error("its format is {0}, this version reads {FORMAT}")]
    Format(u32),
    #[error("a part of the request is missing")]
    Incomplete,
    #[error("the request is not the one recorded under {0}")]
    Changed(String),
}

impl LineFault {
    fn json(error: serde_json::Error) -> Self {
        LineFault::Json(error.to_string())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TapeFault {
    #[error("recording, line {line}: {why}")]
    Line { line: usize, why: LineFault },
    #[error("the request holds what looks like a secret, so it is not recorded")]
    Secret,
    #[error("the recording cannot be written: {0}")]
    Write(String),
    #[error("the recording {path} cannot be used: {why}")]
    File { path: String, why: String },
}

/// Where recordings of one subject are kept.
pub trait Tape: Send + Sync + fmt::Debug {
    fn find(&self, key: &Hash) -> Result<Option<Reply>, TapeFault>;

    fn keep(&self, ask: &Ask, reply: &Reply) -> Result<(), TapeFault>;

    /// What there is, to find the nearest when something is missing.
    fn recorded(&self) -> Vec<Flat>;
}

/// The lines of a cassette. Long parts of requests (prompts, tool lists, messages) stand on lines of their own, once: a conversation
/// repeats all of itself with every call.
#[derive(Debug, Default)]
pub struct Lines {
    parts: BTreeMap<String, Value>,
    replies: BTreeMap<Hash, Recorded>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    format: u32,
    key: Hash,
    seed: u64,
    request: Value,
    reply: Reply,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    part: String,
    value: Value,
}

const PARTS: [&str; 2] = ["system", "tools"];

impl Lines {
    /// Reads lines; those of a reply recorded twice count as they come, the last one stays.
    pub fn read(&mut self, text: &str) -> Result<(), TapeFault> {
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            self.line(line).map_err(|why| TapeFault::Line { line: n + 1, why })?;
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), LineFault> {
        let value: Value = serde_json::from_str(line).map_err(LineFault::json)?;
        if value.get("part").is_some() {
            let part: Part = serde_json::from_value(value).map_err(LineFault::json)?;
            self.parts.insert(part.part, part.value);
            return Ok(());
        }
        let recorded: Recorded = serde_json::from_value(value).map_err(LineFault::json)?;
        if recorded.format != FORMAT {
            return Err(LineFault::Format(recorded.format));
        }
        // A line that somebody edited no longer answers what it says it answers.
        let request = self.whole(&recorded.request).ok_or(LineFault::Incomplete)?;
        let key = key_of(recorded.seed, &request);
        if key != recorded.key {
            return Err(LineFault::Changed(recorded.key.short().to_owned()));
        }
        self.replies.insert(recorded.key.clone(), recorded);
        Ok(())
    }

    pub fn find(&self, key: &Hash) -> Option<&Reply> {
        self.replies.get(key).map(|recorded| &recorded.reply)
    }

    pub fn len(&self) -> usize {
        self.replies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// Takes a reply in and returns the lines to be appended.
    pub fn add(&mut self, ask: &Ask, reply: &Reply) -> Result<String, TapeFault> {
        let write = |error: serde_json::Error| TapeFault::Write(error.to_string());
        let mut request = serde_json::to_value(ask.request()).map_err(write)?;
        if secrets::is_in(&request.to_string()) {
            return Err(TapeFault::Secret);
        }
        let mut lines = String::new();
        if let Value::Object(fields) = &mut request {
            for name in PARTS {
                if let Some(value) = fields.get_mut(name) {
                    self.set_apart(value, &mut lines);
                }
            }
            if let Some(Value::Array(messages)) = fields.get_mut("messages") {
                messages.iter_mut().for_each(|message| self.set_apart(message, &mut lines));
            }
        }
        let recorded = Recorded { format: FORMAT, key: ask.key().clone(), seed: ask.seed(), request, reply: reply.clone() };
        lines.push_str(&serde_json::to_string(&recorded).map_err(write)?);
        lines.push('\n');
        self.replies.insert(recorded.key.clone(), recorded);
        Ok(lines)
    }

    fn set_apart(&mut self, value: &mut Value, lines: &mut String) {
        let name = Hash::of(value).as_str()[..16].to_owned();
        let value = std::mem::replace(value, json!({ "part": name }));
        self.parts.entry(name).or_insert_with_key(|name| {
            lines.push_str(&json!({ "part": name, "value": value }).to_string());
            lines.push('\n');
            value
        });
    }

    /// A request with its parts back in place.
    fn whole(&self, request: &Value) -> Option<Value> {
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

    pub fn flat(&self) -> Vec<Flat> {
        let request = |recorded: &Recorded| serde_json::from_value::<Request>(self.whole(&recorded.request)?).ok();
        self.replies.values().filter_map(|recorded| Some(flat(recorded.seed, &request(recorded)?))).collect()
    }
}

/// A tape that forgets with the process.
#[derive(Debug, Default)]
pub struct MemoryTape {
    inside: Mutex<(Lines, String)>,
}

impl MemoryTape {
    /// What would be in the file.
    pub fn text(&self) -> String {
        self.lock().1.clone()
    }

    fn lock(&self) -> MutexGuard<'_, (Lines, String)> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tape for MemoryTape {
    fn find(&self, key: &Hash) -> Result<Option<Reply>, TapeFault> {
        Ok(self.lock().0.find(key).cloned())
    }

    fn keep(&self, ask: &Ask, reply: &Reply) -> Result<(), TapeFault> {
        let mut inside = self.lock();
        let lines = inside.0.add(ask, reply)?;
        inside.1.push_str(&lines);
        Ok(())
    }

    fn recorded(&self) -> Vec<Flat> {
        self.lock().0.flat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::example;

    #[test]
    fn lines_are_read_back_and_shared_parts_are_written_once() {
        let tape = MemoryTape::default();
        tape.keep(&example::ask("a"), &example::reply("one")).unwrap();
        tape.keep(&example::ask("b"), &example::reply("two")).unwrap();
        let mut lines = Lines::default();
        lines.read(&tape.text()).unwrap();
        assert_eq!(lines.find(example::ask("a").key()).unwrap().text(), "one");
        assert_eq!(lines.find(example::ask("b").key()).unwrap().text(), "two");
        assert_eq!(lines.find(example::ask("c").key()), None);
        assert_eq!(tape.text().matches("Be brief.").count(), 1);
    }

    #[test]
    fn a_line_that_was_tampered_with_or_cut_is_an_error() {
        let tape = MemoryTape::default();
        tape.keep(&example::ask("sell it"), &example::reply("one")).unwrap();
        for (from, to) in
            [("sell it", "keep it"), ("\"seed\":7", "\"seed\":8"), ("\"format\":1", "\"format\":2"), ("\"reply\"", "\"replay\"")]
        {
            assert!(tape.text().contains(from));
            assert!(Lines::default().read(&tape.text().replace(from, to)).is_err(), "{from}");
        }
        let cut: String = tape.text().chars().take(tape.text().len() - 20).collect();
        assert!(matches!(Lines::default().read(&cut), Err(TapeFault::Line { .. })));
    }
}
