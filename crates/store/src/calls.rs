//! Model calls: reserved before they are sent, then settled or failed, so that none is paid twice. Also the reply cache.

use crate::{CallKey, CallStateCounts, JournalWrite, Store, StoreError};
use model::ContentHash;

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
