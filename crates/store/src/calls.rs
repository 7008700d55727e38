//! Model calls: reserved before they are sent, then settled or failed, so that none is paid twice. Also the reply cache.

use crate::{JournalWrite, Store, StoreError};
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

impl Store {
    /// Returns the number of calls of a run by state.
    pub fn call_counts(&self, run: i64) -> Result<CallStateCounts, StoreError> {
        self.engine.call_counts(run)
    }

    /// Returns the mean latency of settled calls.
    pub fn mean_latency_ms(&self, run: i64) -> Result<Option<f64>, StoreError> {
        self.engine.mean_latency_ms(run)
    }

    /// Returns the cost in nano-dollars and the reply of a settled call.
    pub fn settled_reply(&self, call: &CallKey) -> Result<Option<(u64, String)>, StoreError> {
        self.engine.settled_reply(call)
    }

    /// Reserves a call with the most it may cost, in nano-dollars. A failed call may be reserved again.
    ///
    /// # Errors
    ///
    /// Fails if the call is under way or settled.
    pub fn reserve_call(&self, call: &CallKey, ceiling: u64) -> Result<(), StoreError> {
        self.engine.write(&[JournalWrite::Reserve { call: call.clone(), ceiling }])
    }

    /// Stores the reply and the cost of a reserved call.
    pub fn settle_call(&self, call: &CallKey, cost: u64, waited_us: Option<u64>, reply: &str) -> Result<(), StoreError> {
        self.engine.write(&[JournalWrite::Settle { call: call.clone(), cost, waited_us, reply: reply.to_owned() }])
    }

    /// Marks a reserved call as failed. The cost of the attempt stays spent.
    pub fn fail_call(&self, call: &CallKey, cost: u64, why: &str) -> Result<(), StoreError> {
        self.engine.write(&[JournalWrite::Fail { call: call.clone(), cost, why: why.to_owned() }])
    }

    /// Fails the calls that were under way when their process died, and returns their number. The outcome is unknown: charges the
    /// ceiling and allows a retry.
    pub fn fail_orphaned_calls(&self, run: i64) -> Result<usize, StoreError> {
        let orphaned = self.engine.fail_reserved_calls(run)?;
        self.add_telemetry(run, "asked_again", orphaned as u64)?;
        Ok(orphaned)
    }

    /// Returns a reply that any run cached at this second or later.
    pub fn cached_reply(&self, key: &ContentHash, not_before: i64) -> Result<Option<String>, StoreError> {
        self.engine.cached_reply(key, not_before)
    }

    /// Caches a reply for all runs, replacing an older one.
    pub fn cache_reply(&self, key: &ContentHash, at: i64, reply: &str) -> Result<(), StoreError> {
        self.engine.write(&[JournalWrite::CacheReply { key: key.clone(), at, reply: reply.to_owned() }])
    }

    /// Removes replies cached before this second, and returns their number.
    pub fn evict_replies_before(&self, before: i64) -> Result<usize, StoreError> {
        self.engine.evict_replies_before(before)
    }
}
