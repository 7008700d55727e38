//! Key, states and stored row of a model call.

use crate::StoreError;
use model::ContentHash;

/// Key of a model call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallKey {
    pub run: i64,
    pub trial: ContentHash,
    pub role: &'static str,
    pub n: u32,
}

impl CallKey {
    /// Returns the error of a write that found the call in another state.
    pub(crate) fn refused(&self, why: &str) -> StoreError {
        let CallKey { trial, role, n, .. } = self;
        StoreError::Journal(format!("call {n} of the {role} in trial {}: {why}", trial.short()))
    }
}

/// Reasons why the state of a call does not permit a write.
pub(crate) const NOT_RESERVABLE: &str = "it is under way or settled already";
pub(crate) const NOT_RESERVED: &str = "it was not reserved";

/// Reason of a call that was under way when its process died.
pub(crate) const ORPHANED: &str = "under way when the process ended";

/// Number of calls of a run by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallStateCounts {
    pub settled: u64,
    pub reserved: u64,
    pub failed: u64,
    /// Reservations of all calls, retries included.
    pub attempts: u64,
}

/// Call as stored, for a copy. The run has another key there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallRow {
    pub trial: String,
    pub role: String,
    pub n: i64,
    pub state: String,
    pub attempts: i64,
    pub ceiling: i64,
    pub cost: i64,
    pub lost: i64,
    pub waited_us: Option<i64>,
    pub why: Option<String>,
    pub reply: Option<String>,
}
