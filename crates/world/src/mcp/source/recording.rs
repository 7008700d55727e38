//! Records the answers of a source, one JSON line per call, and replays them by tool and arguments.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

use async_trait::async_trait;
use model::ContentHash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{SourceError, ToolSource};
use crate::mcp::printable::printable;

/// Line of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedCall {
    tool: String,
    args: Map<String, Value>,
    said: RecordedReply,
    /// Counts the recordings of a file. Of a call, only the answers of its last recording are replayed.
    #[serde(default, skip_serializing_if = "is_first")]
    recording: u64,
}

fn is_first(recording: &u64) -> bool {
    *recording == 0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RecordedReply {
    Result(Value),
    /// Error reported by the tool.
    Failed(String),
}

/// Returns the key of a call. The order of arguments does not matter.
fn call_key(tool: &str, args: &Map<String, Value>) -> (String, ContentHash) {
    (tool.to_owned(), ContentHash::of_json(&Value::Object(args.clone())))
}

/// Source that passes calls to another one and records the answers.
pub struct RecordingSource<S> {
    inner: S,
    out: Box<dyn Write + Send>,
    recording: u64,
}

impl<S> RecordingSource<S> {
    /// Records to `out`, which is appended to what was recorded before. The caller opens the file, because this crate does not access
    /// files.
    pub fn new(inner: S, out: Box<dyn Write + Send>, earlier: &ReplaySource) -> Self {
        let recording = earlier.lines.iter().map(|line| line.recording + 1).max().unwrap_or(0);
        Self { inner, out, recording }
    }

    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: fmt::Debug> fmt::Debug for RecordingSource<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("inner", &self.inner).finish_non_exhaustive()
    }
}

#[async_trait]
impl<S: ToolSource> ToolSource for RecordingSource<S> {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        let answer = self.inner.call(tool, args).await;
        let said = match &answer {
            Ok(value) => RecordedReply::Result(value.clone()),
            Err(SourceError::Failed { message, .. }) => RecordedReply::Failed(message.clone()),
            // Failures of the harness are not recorded: replaying them would hide them.
            Err(
                SourceError::Server(_)
                | SourceError::NoSource { .. }
                | SourceError::OtherServer { .. }
                | SourceError::UnknownTool { .. }
                | SourceError::NotRecorded { .. }
                | SourceError::NoSchema { .. }
                | SourceError::Unstubbable { .. }
                | SourceError::WriteNotAllowed { .. }
                | SourceError::BadRecording { .. }
                | SourceError::NotWritten { .. },
            ) => return answer,
        };
        let line = RecordedCall { tool: tool.to_owned(), args: args.clone(), said, recording: self.recording };
        let failed = |why: String| SourceError::NotWritten { why };
        let mut text = serde_json::to_string(&line).map_err(|error| failed(error.to_string()))?;
        text.push('\n');
        self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()).map_err(|error| failed(error.to_string()))?;
        answer
    }
}

/// Source that answers from a recording. Repeated calls get their answers in recorded order, then the last one again.
#[derive(Debug, Clone, Default)]
pub struct ReplaySource {
    lines: Vec<RecordedCall>,
    by_key: BTreeMap<(String, ContentHash), ReplayCursor>,
}

#[derive(Debug, Clone, Default)]
struct ReplayCursor {
    lines: Vec<usize>,
    next: usize,
}

impl ReplaySource {
    /// Parses the text of a recording.
    ///
    /// # Errors
    ///
    /// Fails with the number of the first invalid line.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let mut recorded = Self::default();
        for (n, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line: RecordedCall = serde_json::from_str(text)
                .map_err(|error| SourceError::BadRecording { line: n + 1, why: printable(&error.to_string(), 200) })?;
            let cursor = recorded.by_key.entry(call_key(&line.tool, &line.args)).or_default();
            // A later recording of the same call replaces the earlier one.
            cursor.lines.retain(|at| recorded.lines[*at].recording >= line.recording);
            cursor.lines.push(recorded.lines.len());
            recorded.lines.push(line);
        }
        Ok(recorded)
    }

    /// Describes the closest recording: the same tool with the fewest different arguments, or else a tool with a similar name.
    fn nearest_recording(&self, tool: &str, args: &Map<String, Value>) -> String {
        let same = self.lines.iter().filter(|line| line.tool == tool);
        if let Some(line) = same.min_by_key(|line| differences(&line.args, args).len()) {
            let differ = differences(&line.args, args).join(", ");
            return format!("the closest has {} and differs in {}", args_text(&line.args), printable(&differ, 200));
        }
        let guess = model::did_you_mean(tool, self.lines.iter().map(|line| line.tool.as_str()));
        if guess.is_empty() {
            "no call of this tool was recorded".to_owned()
        } else {
            format!("no call of this tool was recorded, {guess}")
        }
    }
}

fn differences<'m>(one: &'m Map<String, Value>, other: &'m Map<String, Value>) -> Vec<&'m str> {
    let changed = one.iter().filter(|(name, value)| other.get(*name) != Some(*value)).map(|(name, _)| name.as_str());
    let added = other.keys().filter(|name| !one.contains_key(*name)).map(String::as_str);
    changed.chain(added).collect()
}

fn args_text(args: &Map<String, Value>) -> String {
    printable(&Value::Object(args.clone()).to_string(), 300)
}

#[async_trait]
impl ToolSource for ReplaySource {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        let Some(cursor) = self.by_key.get_mut(&call_key(tool, args)) else {
            return Err(SourceError::NotRecorded {
                tool: printable(tool, 100),
                args: args_text(args),
                nearest: self.nearest_recording(tool, args),
            });
        };
        let at = cursor.lines[cursor.next];
        cursor.next = (cursor.next + 1).min(cursor.lines.len() - 1);
        match &self.lines[at].said {
            RecordedReply::Result(value) => Ok(value.clone()),
            RecordedReply::Failed(message) => Err(SourceError::Failed { tool: printable(tool, 100), message: message.clone() }),
        }
    }
}
