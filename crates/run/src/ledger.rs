//! What was paid for, and what came back: the seam between whoever asks a model and whoever keeps the journal.

use async_trait::async_trait;
use model::{ContentHash, Money};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which call of a run: unique in it, and the same in every repetition whatever the concurrency.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    pub trial: ContentHash,
    pub role: CallRole,
    /// Counts the calls of this role in this trial from 0.
    pub n: u32,
}

/// On whose behalf a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRole {
    Subject,
    Judge,
    User,
}

impl CallRole {
    pub fn word(self) -> &'static str {
        match self {
            CallRole::Subject => "subject",
            CallRole::Judge => "judge",
            CallRole::User => "user",
        }
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.trial.short(), self.role.word(), self.n)
    }
}

/// A reply that was already paid for in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledCall {
    pub cost: Money,
    /// JSON, as it was given to `settle`.
    pub reply: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the ledger failed: {0}")]
pub struct LedgerFault(pub String);

/// Keeps what calls cost and what they brought. Each `reserve` is followed by one `settle` or `fail` of the same call, unless the
/// process dies; then the call counts at its ceiling. A call that is tried again is reserved again, after its `fail`; what failed
/// attempts cost stays spent.
#[async_trait]
pub trait Ledger: Send + Sync + fmt::Debug {
    /// The reply to a call of this run that was settled before, if it was.
    async fn find_settled(&self, call: &CallId) -> Result<Option<SettledCall>, LedgerFault>;

    /// Durable before the request leaves.
    async fn reserve(&self, call: &CallId, ceiling: Money) -> Result<(), LedgerFault>;

    async fn settle(&self, call: &CallId, cost: Money, reply: &str) -> Result<(), LedgerFault>;

    async fn fail(&self, call: &CallId, cost: Money, why: &str) -> Result<(), LedgerFault>;

    /// A reply kept by any run, unless it is too old; what is too old the implementation knows.
    async fn find_cached(&self, key: &ContentHash) -> Result<Option<String>, LedgerFault>;

    async fn cache_reply(&self, key: &ContentHash, reply: &str) -> Result<(), LedgerFault>;
}

/// A ledger that forgets with the process: for tests and for runs nobody wants to resume.
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
    /// All that is spent, calls under way at their ceiling.
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
        // Books are changed by single inserts, so a panic elsewhere cannot have left them half written.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(books: &mut LedgerEntries, call: &CallId) -> Result<(), LedgerFault> {
        books.open.remove(call).map(|_| ()).ok_or_else(|| LedgerFault(format!("call {call} was not reserved")))
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn find_settled(&self, call: &CallId) -> Result<Option<SettledCall>, LedgerFault> {
        Ok(self.lock().settled.get(call).cloned())
    }

    async fn reserve(&self, call: &CallId, ceiling: Money) -> Result<(), LedgerFault> {
        let before = self.lock().open.insert(call.clone(), ceiling);
        before.map_or(Ok(()), |_| Err(LedgerFault(format!("call {call} is already under way"))))
    }

    async fn settle(&self, call: &CallId, cost: Money, reply: &str) -> Result<(), LedgerFault> {
        let mut books = self.lock();
        Self::close(&mut books, call)?;
        books.settled.insert(call.clone(), SettledCall { cost, reply: reply.to_owned() });
        Ok(())
    }

    async fn fail(&self, call: &CallId, cost: Money, why: &str) -> Result<(), LedgerFault> {
        let mut books = self.lock();
        Self::close(&mut books, call)?;
        books.failed.push((call.clone(), cost, why.to_owned()));
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
}
