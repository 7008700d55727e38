//! Ledger of a stored run: each call is in the journal before its request is sent.

use crate::clock::{Clock, Stopwatch};
use crate::ledger::{CallId, Ledger, LedgerFault, SettledCall};
use async_trait::async_trait;
use model::{ContentHash, Money};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use store::{CallKey, Journal, JournalWrite, StoreError};
use tokio::sync::oneshot;

/// Stored run that calls are written to.
#[derive(Debug)]
pub struct OpenRun {
    pub journal: Journal,
    /// Key of the run in the store.
    pub run: i64,
    /// Set if an earlier process may have left settled calls.
    pub resumed: bool,
}

/// Ledger that is created before the run has a journal, so that subjects can be built before anything is stored.
/// [`JournalLedger::connect`] must be called before the first call.
#[derive(Debug)]
pub struct JournalLedger {
    run: OnceLock<OpenRun>,
    clock: Clock,
    /// Lifetime of a cached reply in seconds.
    ttl_s: i64,
    /// Calls in flight. Their duration is stored beside the record.
    sent: Mutex<HashMap<CallId, Stopwatch>>,
}

impl JournalLedger {
    pub fn new(clock: Clock, ttl_s: u64) -> Self {
        let ttl_s = i64::try_from(ttl_s).unwrap_or(i64::MAX);
        Self { run: OnceLock::new(), clock, ttl_s, sent: Mutex::default() }
    }

    /// Connects the ledger to its run.
    ///
    /// # Errors
    /// Fails if the ledger is already connected.
    pub fn connect(&self, run: OpenRun) -> Result<(), LedgerFault> {
        self.run.set(run).map_err(|_| LedgerFault("already connected to a run".to_owned()))
    }

    fn run(&self) -> Result<&OpenRun, LedgerFault> {
        self.run.get().ok_or_else(|| LedgerFault("not connected to a run".to_owned()))
    }

    async fn write_committed(&self, write: JournalWrite) -> Result<(), LedgerFault> {
        let (sender, receiver) = oneshot::channel();
        self.run()?.journal.write_with_callback(write, Box::new(move |result| drop(sender.send(result))));
        receiver.await.unwrap_or_else(|_| Err(journal_closed())).map_err(ledger_fault)
    }

    async fn query<T: Send + 'static>(
        &self,
        look: impl FnOnce(&store::Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, LedgerFault> {
        let (sender, receiver) = oneshot::channel();
        self.run()?.journal.read_with_callback(look, move |found| drop(sender.send(found)));
        receiver.await.unwrap_or_else(|_| Err(journal_closed())).map_err(ledger_fault)
    }

    fn take_elapsed_us(&self, call: &CallId) -> Option<u64> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner).remove(call)?;
        u64::try_from(sent.elapsed().as_micros()).ok()
    }
}

impl OpenRun {
    fn key(&self, call: &CallId) -> CallKey {
        CallKey { run: self.run, trial: call.trial.clone(), role: call.role.word(), n: call.n }
    }
}

#[async_trait]
impl Ledger for JournalLedger {
    async fn find_settled(&self, call: &CallId) -> Result<Option<SettledCall>, LedgerFault> {
        if !self.run()?.resumed {
            return Ok(None);
        }
        let key = self.run()?.key(call);
        let found = self.query(move |store| store.settled_reply(&key)).await?;
        Ok(found.map(|(cost, reply)| SettledCall { cost: Money::from_nanos(cost), reply }))
    }

    async fn reserve(&self, call: &CallId, ceiling: Money) -> Result<(), LedgerFault> {
        // Clamp to i64 for SQLite.
        let ceiling = ceiling.as_nanos().min(i64::MAX as u64);
        self.write_committed(JournalWrite::Reserve { call: self.run()?.key(call), ceiling }).await?;
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), self.clock.stopwatch());
        Ok(())
    }

    async fn settle(&self, call: &CallId, cost: Money, reply: &str) -> Result<(), LedgerFault> {
        let waited_us = self.take_elapsed_us(call);
        let run = self.run()?;
        run.journal.write(JournalWrite::Settle { call: run.key(call), cost: cost.as_nanos(), waited_us, reply: reply.to_owned() });
        Ok(())
    }

    async fn fail(&self, call: &CallId, cost: Money, why: &str) -> Result<(), LedgerFault> {
        self.take_elapsed_us(call);
        let run = self.run()?;
        run.journal.write(JournalWrite::Fail { call: run.key(call), cost: cost.as_nanos(), why: why.to_owned() });
        run.journal.write(JournalWrite::Count { run: run.run, what: "failed_calls", n: 1 });
        Ok(())
    }

    async fn find_cached(&self, key: &ContentHash) -> Result<Option<String>, LedgerFault> {
        let (key, not_before) = (key.clone(), (self.clock.unix_s() + 1).saturating_sub(self.ttl_s));
        let found = self.query(move |store| store.cached_reply(&key, not_before)).await?;
        if found.is_some() {
            let run = self.run()?;
            run.journal.write(JournalWrite::Count { run: run.run, what: "cache_hits", n: 1 });
        }
        Ok(found)
    }

    async fn cache_reply(&self, key: &ContentHash, reply: &str) -> Result<(), LedgerFault> {
        self.run()?.journal.write(JournalWrite::CacheReply { key: key.clone(), at: self.clock.unix_s(), reply: reply.to_owned() });
        Ok(())
    }
}

fn journal_closed() -> StoreError {
    StoreError::Journal("its thread ended".into())
}

fn ledger_fault(error: StoreError) -> LedgerFault {
    LedgerFault(error.to_string())
}
