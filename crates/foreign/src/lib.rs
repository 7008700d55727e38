//! Logs of other frameworks as transcripts, with the verdicts of their source, and exports of runs in formats that others read.
//!
//! Everything read here comes from outside: sizes, depth and counts are bounded, unknown keys are ignored, and what cannot be used is
//! reported with its place. The crate opens no file; readers and writers are arguments.

#![expect(clippy::wildcard_enum_match_arm, reason = "readers of logs handle the few kinds they know and ignore all others")]

mod action_match;
mod agreement;
mod attack_signs;
mod builder;
mod content;
mod detect;
pub mod export;
mod forbidden_call;
mod format;
mod formats;
mod json_splitter;
mod log_readings;
mod problem;
mod python_equality;
mod reader;
mod recording;
mod zip_archive;

pub use action_match::action_match;
pub use agreement::{AgreementRow, AgreementTable, CounterpartReading, Disagreement, VerdictPair};
pub use attack_signs::{AttackCounts, AttackQuestion, AttackSigns, SignState, attack_signs};
pub use forbidden_call::ForbiddenCall;
pub use format::LogFormat;
pub use formats::otlp_facts::{ChatFacts, ToolFacts, TraceFacts, TraceReading, read_spans};
pub use formats::otlp_trace::ClaimTrust;
pub use formats::transaction_refs::TransactionRef;
pub use log_readings::{LogReading, log_readings};
pub use problem::{LogPlace, LogProblem};
pub use python_equality::python_equal;
pub use reader::{LogEntry, LogInput, read_log};
pub use recording::{AttackContext, ExpectedAction, LogRecording, SourceOutcome, SourceVerdict, shorten};
