//! Trials of one case on one side of a comparison.

use crate::causes::FailureCause;
use model::ContentHash;
use serde::{Deserialize, Serialize};

/// Trials of one case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SideCase {
    pub passed: u64,
    /// Trials that passed or failed.
    pub judged: u64,
    /// Trials that say nothing about the subject.
    pub aborted: u64,
    /// Planned trials of an unfinished run that have not run.
    pub unplayed: u64,
    /// Short id of the first trial that failed, else of the first one.
    pub trial: Option<String>,
    /// Causes of the first trial that failed.
    pub causes: Vec<FailureCause>,
    /// Hash of the case as it was run, if known.
    pub hash: Option<ContentHash>,
}

impl SideCase {
    pub(super) fn rate(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.passed as f64 / self.judged as f64)
    }
}
