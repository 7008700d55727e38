//! Interface between LLM providers and the journal: reservations, costs and replies of calls.

use crate::budget::BudgetExhausted;
use async_trait::async_trait;
use model::{ContentHash, Money};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Id of an LLM call, unique in its run and independent of concurrency, so that a resumed run finds it again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    pub trial: ContentHash,
    pub role: CallRole,
    /// Counts the calls of this role in this trial from 0.
    pub n: u32,
}

/// Role that makes the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRole {
    Subject,
    Judge,
    User,
    /// Words attacks.
    Attacker,
}

impl CallRole {
    pub fn word(self) -> &'static str {
        match self {
            CallRole::Subject => "subject",
            CallRole::Judge => "judge",
            CallRole::User => "user",
            CallRole::Attacker => "attacker",
        }
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.trial.short(), self.role.word(), self.n)
    }
}

/// Reply that this run has already paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledCall {
    pub cost: Money,
    /// JSON text passed to [`Ledger::settle`].
    pub reply: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the ledger failed: {0}")]
pub struct LedgerFault(pub String);

/// Reason why a call is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReservationFault {
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
    #[error(transparent)]
    Unfunded(#[from] BudgetExhausted),
}

/// Reply whose token counts could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BillingDoubt {
    Unreadable,
    /// The first one closes the budget.
    Impossible,
}

/// Stores costs and replies of calls. Each `reserve` is followed by one `settle` or `fail` of the same call. If the process dies in
/// between, the call is charged its ceiling. A retry reserves again after `fail`; costs of failed attempts stay spent.
#[async_trait]
pub trait Ledger: Send + Sync + fmt::Debug {
    /// Returns the reply if this call was settled earlier in the run.
    async fn find_settled(&self, call: &CallId) -> Result<Option<SettledCall>, LedgerFault>;

    /// Records the reservation; it is durable before the request is sent.
    async fn reserve(&self, call: &CallId, ceiling: Money) -> Result<(), LedgerFault>;

    /// Like [`Ledger::reserve`], for a call of this vendor and key. A ledger that machines share also holds the budget of the run and the
    /// limits of the vendor.
    async fn reserve_at(&self, call: &CallId, ceiling: Money, _vendor: &str) -> Result<(), ReservationFault> {
        Ok(self.reserve(call, ceiling).await?)
    }

    /// Tells the other users of a shared ledger that a vendor takes fewer calls, and the delay it asked for. Call it before [`Ledger::fail`].
    async fn record_throttle(&self, _call: &CallId, _wait: Option<Duration>) -> Result<(), LedgerFault> {
        Ok(())
    }

    /// Tells the other users of a shared ledger that a bill is in doubt.
    async fn record_doubt(&self, _doubt: BillingDoubt) -> Result<(), LedgerFault> {
        Ok(())
    }

    async fn settle(&self, call: &CallId, cost: Money, reply: &str) -> Result<(), LedgerFault>;

    async fn fail(&self, call: &CallId, cost: Money, why: &str) -> Result<(), LedgerFault>;

    /// Returns a reply cached by any run, unless it has expired. The implementation sets the expiry.
    async fn find_cached(&self, key: &ContentHash) -> Result<Option<String>, LedgerFault>;

    async fn cache_reply(&self, key: &ContentHash, reply: &str) -> Result<(), LedgerFault>;
}

/// In-memory ledger, for tests and for runs that are not resumable.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    entries: Mutex<LedgerEntries>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerEntries {
    pub open: BTreeMap<CallId, Money>,
    pub settled: BTreeMap<CallId, SettledCall>,
    pub failed: Vec<(CallId, Money, String)>,
    pub cached: BTreeMap<ContentHash, String>,
}

impl LedgerEntries {
    /// Returns the total spent, with open calls at their ceiling.
    pub fn spent(&self) -> Money {
        let settled = self.settled.values().map(|settled| settled.cost);
        let failed = self.failed.iter().map(|(_, cost, _)| *cost);
        settled.chain(failed).chain(self.open.values().copied()).sum()
    }
}

impl MemoryLedger {
    pub fn entries(&self) -> LedgerEntries {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, LedgerEntries> {
        // Entries change by single inserts, so a panic elsewhere cannot leave them half written.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(entries: &mut LedgerEntries, call: &CallId) -> Result<(), LedgerFault> {
        entries.open.remove(call).map(|_| ()).ok_or_else(|| LedgerFault(format!("call {call} was not reserved")))
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn find_settled(&self, call: &CallId) -> Result<Option<SettledCall>, LedgerFault> {
        Ok(self.lock().settled.get(call).cloned())
    }

    async fn reserve(&self, call: &CallId, ceiling: Money) -> Result<(), LedgerFault> {
        let before = self.lock().open.insert(call.clone(), ceiling);
        before.map_or(Ok(()), |_| Err(LedgerFault(format!("call {call} is already in flight"))))
    }

    async fn settle(&self, call: &CallId, cost: Money, reply: &str) -> Result<(), LedgerFault> {
        let mut entries = self.lock();
        Self::close(&mut entries, call)?;
        entries.settled.insert(call.clone(), SettledCall { cost, reply: reply.to_owned() });
        Ok(())
    }

    async fn fail(&self, call: &CallId, cost: Money, why: &str) -> Result<(), LedgerFault> {
        let mut entries = self.lock();
        Self::close(&mut entries, call)?;
        entries.failed.push((call.clone(), cost, why.to_owned()));
        Ok(())
    }

    async fn find_cached(&self, key: &ContentHash) -> Result<Option<String>, LedgerFault> {
        Ok(self.lock().cached.get(key).cloned())
    }

    async fn cache_reply(&self, key: &ContentHash, reply: &str) -> Result<(), LedgerFault> {
        self.lock().cached.insert(key.clone(), reply.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(n: u32) -> CallId {
        CallId { trial: ContentHash::of_text("a trial"), role: CallRole::Subject, n }
    }

    #[tokio::test]
    async fn open_call_is_spent_at_its_ceiling_until_settled() {
        let ledger = MemoryLedger::default();
        ledger.reserve(&call(0), Money::from_dollars(3)).await.unwrap();
        assert_eq!(ledger.entries().spent(), Money::from_dollars(3));
        ledger.fail(&call(0), Money::from_dollars(1), "dropped").await.unwrap();
        ledger.reserve(&call(0), Money::from_dollars(3)).await.unwrap();
        ledger.settle(&call(0), Money::from_dollars(1), "{}").await.unwrap();
        assert_eq!(ledger.entries().spent(), Money::from_dollars(2));
        assert_eq!(ledger.find_settled(&call(0)).await.unwrap().unwrap().reply, "{}");
        assert_eq!(ledger.find_settled(&call(1)).await.unwrap(), None);
    }

    #[tokio::test]
    async fn settle_and_fail_require_a_reservation() {
        let ledger = MemoryLedger::default();
        assert!(ledger.settle(&call(0), Money::ZERO, "{}").await.is_err());
        assert!(ledger.fail(&call(0), Money::ZERO, "").await.is_err());
    }

    #[tokio::test]
    async fn call_in_flight_is_not_reserved_twice() {
        let ledger = MemoryLedger::default();
        ledger.reserve(&call(2), Money::from_dollars(1)).await.unwrap();
        let said = ledger.reserve(&call(2), Money::from_dollars(1)).await.unwrap_err().to_string();
        assert!(said.contains(&format!("call {} is already in flight", call(2))) && call(2).to_string() != call(3).to_string(), "{said}");
    }

    #[tokio::test]
    async fn cached_reply_is_found_by_its_key_alone() {
        let ledger = MemoryLedger::default();
        let (key, other) = (ContentHash::of_text("a request"), ContentHash::of_text("another"));
        ledger.cache_reply(&key, "{}").await.unwrap();
        assert_eq!(ledger.find_cached(&key).await.unwrap().as_deref(), Some("{}"));
        assert_eq!(ledger.find_cached(&other).await.unwrap(), None);
        assert_eq!(ledger.entries().cached.len(), 1);
    }
}
