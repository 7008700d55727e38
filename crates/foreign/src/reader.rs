//! Reads a log of any format, item by item.

use crate::detect::{detect_item, detect_list, detect_messages};
use crate::format::LogFormat;
use crate::formats::{
    ItemError, agentdojo, anthropic, inspect, jsonl, openai_chat, openai_responses, otlp, otlp_span, otlp_trace, tau_bench, tau2,
};
use crate::json_splitter::{JsonPiece, JsonSplitter, MAX_ITEM_BYTES, SplitError};
use crate::problem::{LogPlace, LogProblem};
use crate::recording::{LogRecording, shorten};
use crate::zip_archive::{ReadSeek, entries, read_entry};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Seek};

/// Largest total of spans whose traces may still grow, in bytes of JSON.
const MAX_OPEN_TRACE_BYTES: usize = 32 << 20;

/// Most expected actions and required texts of a recording, each of which is compared with every call and every text.
const MAX_EXPECTED: usize = 1000;
const MAX_REQUIRED_TEXTS: usize = 200;
/// Most times that a document may go on after a long list.
const MAX_HEADERS: u32 = 100;

/// Log to be read.
#[derive(Debug, Clone, Copy)]
pub struct LogInput<'a> {
    /// Name for messages, such as the path.
    pub file: &'a str,
    /// Format; absent to recognise it.
    pub format: Option<LogFormat>,
}

/// Part of a log.
#[derive(Debug)]
pub enum LogEntry {
    Recording(Box<LogRecording>),
    /// The item cannot be used; others may.
    Problem(LogProblem),
}

/// Reads a log and calls `take` with every recording and every problem, in order. Holds one item at a time, and the traces of OTLP that
/// are not complete.
///
/// # Errors
/// The first problem after which nothing more can be read.
pub fn read_log<R: BufRead + Seek>(
    source: &mut R,
    input: LogInput<'_>,
    take: &mut dyn FnMut(LogEntry),
) -> Result<Option<LogFormat>, LogProblem> {
    let mut reader = LogReader {
        input,
        format: input.format,
        header: Value::Null,
        header_bytes: 0,
        headers: 0,
        item: 0,
        conversation: None,
        traces: OpenTraces::default(),
        take,
    };
    let is_archive = source.fill_buf().map_err(|error| reader.fatal(&error.to_string()))?.starts_with(b"PK");
    if is_archive {
        reader.read_archive(source)?
    } else {
        reader.read_stream(source)?
    }
    Ok(reader.format)
}

struct LogReader<'a> {
    input: LogInput<'a>,
    format: Option<LogFormat>,
    /// Members of the document around a long list.
    header: Value,
    header_bytes: usize,
    headers: u32,
    item: u64,
    /// Messages of a list that is one conversation.
    conversation: Option<ListedMessages>,
    traces: OpenTraces,
    take: &'a mut dyn FnMut(LogEntry),
}

#[derive(Default)]
struct ListedMessages {
    messages: Vec<Value>,
    bytes: usize,
}

impl LogReader<'_> {
    fn place(&self) -> LogPlace {
        LogPlace { file: self.input.file.to_owned(), item: self.item }
    }

    fn fatal(&self, what: &str) -> LogProblem {
        LogProblem::new(&self.place(), what, "check that the file is complete, or name its format with --from")
    }

    fn read_stream(&mut self, source: &mut dyn BufRead) -> Result<(), LogProblem> {
        let mut splitter = JsonSplitter::new(source);
        loop {
            match splitter.next_piece() {
                Ok(Some(piece)) => self.add_piece(piece, &splitter)?,
                Ok(None) => break,
                Err(SplitError::Item(what)) => {
                    self.item += 1;
                    self.report(what.to_owned());
                }
                Err(error @ (SplitError::Io(_) | SplitError::Fatal(_))) => {
                    self.item += 1;
                    self.close_traces(0);
                    return Err(self.fatal(&error.to_string()));
                }
            }
        }
        self.close_traces(0);
        Ok(())
    }

    fn add_piece(&mut self, piece: JsonPiece, splitter: &JsonSplitter<'_>) -> Result<(), LogProblem> {
        match piece {
            JsonPiece::ListBegin | JsonPiece::DocumentEnd => {}
            JsonPiece::Item => self.add_bytes(splitter.bytes())?,
            JsonPiece::Element => self.add_element(splitter.bytes())?,
            JsonPiece::ListEnd => {
                if let Some(listed) = self.conversation.take() {
                    self.item += 1;
                    self.add_value(Value::Array(listed.messages))?;
                }
            }
            JsonPiece::LongElement(key) => {
                self.format.get_or_insert(detect_list(key));
                if splitter.header().len() != self.header_bytes {
                    self.header_bytes = splitter.header().len();
                    self.headers += 1;
                    if self.headers > MAX_HEADERS {
                        return Err(self.fatal("the document has too many lists"));
                    }
                    let text = [splitter.header(), b"}"].concat();
                    self.header =
                        serde_json::from_slice(&text).map_err(|error| self.fatal(&format!("the document is not JSON: {error}")))?;
                }
                self.add_bytes(splitter.bytes())?;
            }
        }
        Ok(())
    }

    /// Adds an element of a list: a message of one conversation, or an item.
    fn add_element(&mut self, bytes: &[u8]) -> Result<(), LogProblem> {
        if self.item == 0 && self.conversation.is_none() {
            let first: Value = match serde_json::from_slice(bytes) {
                Ok(first) => first,
                Err(_) => return self.add_bytes(bytes),
            };
            if !is_part_of_conversation(&first) {
                return self.add_bytes(bytes);
            }
            self.conversation = Some(ListedMessages::default());
        }
        let Some(listed) = &mut self.conversation else { return self.add_bytes(bytes) };
        listed.bytes += bytes.len();
        if listed.bytes > MAX_ITEM_BYTES {
            return Err(self.fatal("the conversation has more than 32 MB"));
        }
        match serde_json::from_slice(bytes) {
            Ok(message) => listed.messages.push(message),
            Err(error) => return Err(self.fatal(&format!("a message is not JSON: {error}"))),
        }
        Ok(())
    }

    fn add_bytes(&mut self, bytes: &[u8]) -> Result<(), LogProblem> {
        self.item += 1;
        if self.format == Some(LogFormat::Jsonl) {
            let read = jsonl::read(bytes, &self.place());
            self.take_result(read);
            return Ok(());
        }
        match serde_json::from_slice(bytes) {
            Ok(value) if self.format.is_none() && detect_item(&value) == Some(LogFormat::Jsonl) => {
                self.format = Some(LogFormat::Jsonl);
                let read = jsonl::read(bytes, &self.place());
                self.take_result(read);
                Ok(())
            }
            Ok(value) => self.add_value(value),
            Err(error) => {
                self.report(format!("this is not JSON: {error}"));
                Ok(())
            }
        }
    }

    fn add_value(&mut self, value: Value) -> Result<(), LogProblem> {
        let Some(format) = self.format.or_else(|| detect_item(&value)) else {
            if value.get("results").and_then(|results| results.get("results")).is_some_and(Value::is_array) {
                let what = "this is a result file of promptfoo, and its tests are decided already";
                let remedy = "read it with `bardo-eval compare A.json B.json` or `bardo-eval golden diff FILE.json`";
                return Err(LogProblem::new(&self.place(), what, remedy));
            }
            let names: Vec<&str> = LogFormat::ALL.iter().map(|(word, _)| *word).collect();
            let what = "the item is in no known format";
            return Err(LogProblem::new(&self.place(), what, format!("name one with --from: {}", names.join(", "))));
        };
        self.format = Some(format);
        let at = self.place();
        let read = match format {
            LogFormat::Jsonl => jsonl::read(value.to_string().as_bytes(), &at),
            LogFormat::OpenAiChat => openai_chat::read(&value, &at),
            LogFormat::OpenAiResponses => openai_responses::read(&value, &at),
            LogFormat::Anthropic => anthropic::read(&value, &at),
            LogFormat::TauBench => tau_bench::read(&value, &at),
            LogFormat::Tau2 => tau2::read(&value, &self.header, &at),
            LogFormat::AgentDojo => agentdojo::read(&value, &at),
            LogFormat::Inspect => inspect::read(&value, &self.header, &at),
            LogFormat::Otlp => {
                self.add_spans(value);
                return Ok(());
            }
        };
        self.take_result(read);
        Ok(())
    }

    fn take_result(&mut self, read: Result<LogRecording, ItemError>) {
        match read {
            Ok(recording) if recording.expected.len() > MAX_EXPECTED => self.report("there are more than 1,000 expected actions".into()),
            Ok(recording) if recording.required_texts.len() > MAX_REQUIRED_TEXTS => {
                self.report("there are more than 200 required texts".into());
            }
            Ok(recording) => (self.take)(LogEntry::Recording(Box::new(recording))),
            Err(what) => self.report(what),
        }
    }

    fn report(&mut self, what: String) {
        // Errors of the parser list every name that it knows.
        let problem = LogProblem::new(&self.place(), shorten(&what), "the item was skipped");
        (self.take)(LogEntry::Problem(problem));
    }

    /// Adds a request of OTLP, or one element of its `resourceSpans`.
    fn add_spans(&mut self, value: Value) {
        let resources = match value {
            Value::Object(mut members) if members.contains_key("resourceSpans") => match members.remove("resourceSpans") {
                Some(Value::Array(resources)) => resources,
                Some(_) | None => vec![],
            },
            other => vec![other],
        };
        let mut count = 0;
        for (trace, span) in resources.into_iter().flat_map(otlp::spans_of) {
            count += 1;
            if self.traces.closed.contains(&trace_key(&trace)) {
                self.report(format!("trace {trace} goes on after too many others; its later spans were skipped"));
                continue;
            }
            self.traces.add(trace, span);
        }
        if count == 0 {
            self.report("there are no spans".into());
        }
        if self.traces.bytes > MAX_OPEN_TRACE_BYTES {
            self.close_traces(MAX_OPEN_TRACE_BYTES / 2);
        }
    }

    /// Makes recordings of the traces that were touched longest ago, until the others take at most `keep` bytes.
    fn close_traces(&mut self, keep: usize) {
        while self.traces.bytes > keep || (keep == 0 && !self.traces.open.is_empty()) {
            let Some((trace, open)) = self.traces.close_oldest() else { break };
            let read = otlp_trace::read_trace(&trace, open.spans, &self.place(), otlp_trace::ClaimTrust::Trusted);
            self.take_result(read);
        }
    }

    fn read_archive(&mut self, source: &mut dyn ReadSeek) -> Result<(), LogProblem> {
        self.format = Some(LogFormat::Inspect);
        let unusable = |reader: &Self, error: io::Error| reader.fatal(&error.to_string());
        let found = entries(source).map_err(|error| unusable(self, error))?;
        // A log that is still written has its header in the journal only.
        if let Some(entry) = found.get("header.json").or_else(|| found.get("_journal/start.json")) {
            let bytes = read_entry(source, *entry).map_err(|error| unusable(self, error))?;
            self.header = serde_json::from_slice(&bytes).map_err(|error| self.fatal(&format!("the header is not JSON: {error}")))?;
        }
        let samples: BTreeMap<&String, _> =
            found.iter().filter(|(name, _)| name.starts_with("samples/") && name.ends_with(".json")).collect();
        for entry in samples.values() {
            self.item += 1;
            match read_entry(source, **entry) {
                Ok(bytes) => {
                    self.item -= 1;
                    self.read_sample(&bytes)?;
                }
                Err(error) => self.report(error.to_string()),
            }
        }
        Ok(())
    }

    /// Reads a sample through the splitter, which bounds its depth and number of values.
    fn read_sample(&mut self, bytes: &[u8]) -> Result<(), LogProblem> {
        let mut bytes = bytes;
        let mut splitter = JsonSplitter::new(&mut bytes);
        match splitter.next_piece() {
            Ok(Some(JsonPiece::Item)) => self.add_bytes(splitter.bytes()),
            Ok(_) | Err(_) => {
                self.item += 1;
                self.report("the sample is not a JSON object".into());
                Ok(())
            }
        }
    }
}

fn is_part_of_conversation(first: &Value) -> bool {
    first.is_object() && detect_item(first).is_none() && detect_messages(std::slice::from_ref(first)).is_some()
}

/// Traces that may still grow.
#[derive(Default)]
struct OpenTraces {
    open: BTreeMap<String, BufferedTrace>,
    by_age: BTreeMap<u64, String>,
    /// Traces that were made into recordings before the end, so that later spans are noticed.
    closed: BTreeSet<u64>,
    clock: u64,
    bytes: usize,
}

#[derive(Default)]
struct BufferedTrace {
    spans: Vec<otlp_span::OtlpSpan>,
    bytes: usize,
    touched: u64,
}

/// Short form of a trace id, since a log may have millions of them.
fn trace_key(trace: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    trace.hash(&mut hasher);
    hasher.finish()
}

impl OpenTraces {
    fn add(&mut self, trace: String, span: otlp_span::OtlpSpan) {
        let size = span.size();
        self.clock += 1;
        self.bytes += size;
        let open = self.open.entry(trace.clone()).or_default();
        self.by_age.remove(&open.touched);
        open.touched = self.clock;
        open.bytes += size;
        open.spans.push(span);
        self.by_age.insert(self.clock, trace);
    }

    fn close_oldest(&mut self) -> Option<(String, BufferedTrace)> {
        let (_, trace) = self.by_age.pop_first()?;
        let open = self.open.remove(&trace)?;
        self.bytes = self.bytes.saturating_sub(open.bytes);
        self.closed.insert(trace_key(&trace));
        Some((trace, open))
    }
}
