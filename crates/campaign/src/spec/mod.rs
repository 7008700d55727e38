//! Resolves a [`RunRequest`], as given on the command line, into a [`RunSpec`].

mod chain;
mod inline_subject;
mod request;
mod run_spec;
mod select;

pub use chain::{ChainChoice, UnknownChain};
pub use inline_subject::inline_subject;
pub(crate) use inline_subject::unknown_subject;
pub use request::{JudgeRequest, RunRequest, are_subjects_built_in};
pub use run_spec::{AttackerSettings, CaseFile, RecordingMode, RunOptions, RunSettings, RunSpec};
pub use select::{CaseSelection, UnknownName, glob_match, select};
