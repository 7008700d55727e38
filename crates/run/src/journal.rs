//! The ledger of a run that is kept: every call stands in the journal before it leaves.

use crate::ledger::{CallId, Ledger, LedgerFault, Settled};
use async_trait::async_trait;
use model::{Hash, Money};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use store::{CallKey, Journal, StoreError, Write};
use tokio::sync::oneshot;
use tokio::time::Instant;

#[derive(Debug)]
pub struct JournalLedger {
    journal: Journal,
    /// Key of the run in the store.
    run: i64,
    /// Whether an earlier process may have left settled calls.
    resumed: bool,
    /// Seconds since 1970.
    now: fn() -> i64,
    /// How long a kept reply is good for.
    ttl_s: i64,
    /// When calls under way left: how long they took is told beside the record.
    left: Mutex<HashMap<CallId, Instant>>,
}

impl JournalLedger {
    pub fn new(journal: Journal, run: i64, resumed: bool, now: fn() -> i64, ttl_s: u64) -> Self {
        let ttl_s = i64::try_from(ttl_s).unwrap_or(i64::MAX);
        Self { journal, run, resumed, now, ttl_s, left: Mutex::default() }
    }

    fn key(&self, call: &CallId) -> CallKey {
        CallKey { run: self.run, trial: call.trial.clone(), role: call.role.word(), n: call.n }
    }

    async fn committed(&self, write: Write) -> Result<(), LedgerFault> {
        let (tell, told) = oneshot::channel();
        self.journal.write_then(write, Box::new(move |result| drop(tell.send(result))));
        told.await.unwrap_or_else(|_| Err(gone())).map_err(fault)
    }

    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&store::Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, LedgerFault> {
        let (tell, told) = oneshot::channel();
        self.journal.look(look, move |found| drop(tell.send(found)));
        told.await.unwrap_or_else(|_| Err(gone())).map_err(fault)
    }

    fn back(&self, call: &CallId) -> Option<u64> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).remove(call)?;
        u64::try_from(left.elapsed().as_micros()).ok()
    }
}

#[async_trait]
impl Ledger for JournalLedger {
    async fn settled(&self, call: &CallId) -> Result<Option<Settled>, LedgerFault> {
        if !self.resumed {
            return Ok(None);
        }
        let key = self.key(call);
        let found = self.look(move |store| store.settled(&key)).await?;
        Ok(found.map(|(cost, reply)| Settled { cost: Money::nanos(cost), reply }))
    }

    async fn reserve(&self, call: &CallId, ceiling: Money) -> Result<(), LedgerFault> {
        // Larger than SQLite's numbers is larger than anyone's budget.
        let ceiling = ceiling.as_nanos().min(i64::MAX as u64);
        self.committed(Write::Reserve { call: self.key(call), ceiling }).await?;
        self.left.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), Instant::now());
        Ok(())
    }

    async fn settle(&self, call: &CallId, cost: Money, reply: &str) -> Result<(), LedgerFault> {
        let waited_us = self.back(call);
        self.journal.write(Write::Settle { call: self.key(call), cost: cost.as_nanos(), waited_us, reply: reply.to_owned() });
        Ok(())
    }

    async fn fail(&self, call: &CallId, cost: Money, why: &str) -> Result<(), LedgerFault> {
        self.back(call);
        self.journal.write(Write::Fail { call: self.key(call), cost: cost.as_nanos(), why: why.to_owned() });
        self.journal.write(Write::Count { run: self.run, what: "failed_calls", n: 1 });
        Ok(())
    }

    async fn cached(&self, key: &Hash) -> Result<Option<String>, LedgerFault> {
        let (key, not_before) = (key.clone(), (self.now)().saturating_sub(self.ttl_s));
        let found = self.look(move |store| store.cached(&key, not_before)).await?;
        if found.is_some() {
            self.journal.write(Write::Count { run: self.run, what: "cache_hits", n: 1 });
        }
        Ok(found)
    }

    async fn keep(&self, key: &Hash, reply: &str) -> Result<(), LedgerFault> {
        self.journal.write(Write::Keep { key: key.clone(), at: (self.now)(), reply: reply.to_owned() });
        Ok(())
    }
}

fn gone() -> StoreError {
    StoreError::Journal("its thread ended".into())
}

fn fault(error: StoreError) -> LedgerFault {
    LedgerFault(error.to_string())
}
