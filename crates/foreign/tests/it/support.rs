//! Reads fixtures and renders recordings as lines.

use bardo_eval_foreign::{LogEntry, LogFormat, LogInput, LogProblem, LogRecording, read_log};
use model::transcript::ToolAnswer;
use model::{Event, EventKind};
use std::io::{BufReader, Cursor};
use std::path::PathBuf;

/// Result of reading a log.
#[derive(Debug)]
pub(crate) struct ReadResult {
    pub format: Option<LogFormat>,
    pub recordings: Vec<LogRecording>,
    pub problems: Vec<String>,
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)).expect("a fixture")
}

pub(crate) fn read_bytes(name: &str, bytes: &[u8], format: Option<LogFormat>) -> ReadResult {
    let (mut recordings, mut problems) = (vec![], vec![]);
    let text = |problem: &LogProblem| format!("{}: {}", problem.at.item, problem.what);
    let mut source = BufReader::with_capacity(64, Cursor::new(bytes));
    let read = read_log(&mut source, LogInput { file: name, format }, &mut |entry| match entry {
        LogEntry::Recording(recording) => recordings.push(*recording),
        LogEntry::Problem(problem) => problems.push(text(&problem)),
    });
    let format = read.unwrap_or_else(|problem| {
        problems.push(text(&problem));
        None
    });
    ReadResult { format, recordings, problems }
}

pub(crate) fn read(name: &str) -> ReadResult {
    read_bytes(name, &fixture(name), None)
}

/// Returns a recording as one line per event, after a line with its names and ending.
pub(crate) fn lines(recording: &LogRecording) -> Vec<String> {
    let transcript = &recording.transcript;
    let trial = recording.trial.map_or_else(String::new, |trial| format!(" trial {trial}"));
    let mut lines = vec![format!("{}{trial} by {}, {}", transcript.case, transcript.subject, transcript.ending)];
    lines.extend(transcript.events.iter().map(line));
    lines
}

fn line(event: &Event) -> String {
    let what = match &event.happened {
        EventKind::UserSaid { text } | EventKind::Said { text } => format!("says {text}"),
        EventKind::Called { call, tool, args } => format!("calls {tool} {args} as {call}"),
        EventKind::Answered { call, answer: ToolAnswer::Result(value) } => format!("gets {value} for {call}"),
        EventKind::Answered { call, answer: ToolAnswer::Error { message, .. } } => format!("gets the error {message} for {call}"),
        EventKind::Delegated { to, .. } => format!("delegates to {to}"),
        EventKind::Returned { .. } => "returns".to_owned(),
        other => format!("{other:?}"),
    };
    format!("{}{} {what}", " ".repeat(event.depth as usize), event.by)
}
