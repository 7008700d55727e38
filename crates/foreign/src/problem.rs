//! Mistakes in a log, with their place.

use std::fmt;

/// Place of an item in a log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPlace {
    /// File, or the file and the entry of an archive.
    pub file: String,
    /// Number of the item in the file, from 1; 0 for the whole file.
    pub item: u64,
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.item == 0 { f.write_str(&self.file) } else { write!(f, "{}, item {}", self.file, self.item) }
    }
}

/// Item or file that cannot be used, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct LogProblem {
    pub at: LogPlace,
    pub what: String,
    pub remedy: String,
}

impl LogProblem {
    pub(crate) fn new(at: &LogPlace, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { at: at.clone(), what: what.into(), remedy: remedy.into() }
    }
}
