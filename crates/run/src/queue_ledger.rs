//! Ledger of a worker: calls are reserved in the store together with the money of the run, which all machines share.

use crate::budget::BudgetExhausted;
use crate::clock::{Clock, Stopwatch};
use crate::ledger::{BillingDoubt, CallId, Ledger, LedgerFault, ReservationFault, SettledCall};
use async_trait::async_trait;
use model::{ContentHash, Money};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;
use store::postgres::queue::{CallTicket, QueueWrite, QueueWriter, ReserveAnswer, VendorThrottle};
use store::{CallKey, StoreError};
use tokio::sync::oneshot;
use tokio::time::sleep;

/// Ledger that writes through the lease of a worker. It is connected again when the worker gets a new lease.
#[derive(Debug)]
pub struct QueueLedger {
    writer: RwLock<Option<QueueWriter>>,
    clock: Clock,
    /// Lifetime of a cached reply in seconds.
    ttl_s: i64,
    sent: Mutex<HashMap<CallId, SentCall>>,
}

/// Call in flight.
#[derive(Debug)]
struct SentCall {
    since: Stopwatch,
    vendor: String,
    halvings: u64,
}

impl QueueLedger {
    pub fn new(clock: Clock, ttl_s: u64) -> Self {
        let ttl_s = i64::try_from(ttl_s).unwrap_or(i64::MAX);
        Self { writer: RwLock::default(), clock, ttl_s, sent: Mutex::default() }
    }

    /// Writes through this lease from now on; `None` while there is none.
    pub fn connect(&self, writer: Option<QueueWriter>) {
        *self.writer.write().unwrap_or_else(PoisonError::into_inner) = writer;
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn writer(&self) -> Result<QueueWriter, LedgerFault> {
        let writer = self.writer.read().unwrap_or_else(PoisonError::into_inner).clone();
        writer.ok_or_else(|| LedgerFault("this worker has no lease".to_owned()))
    }

    fn key(writer: &QueueWriter, call: &CallId) -> CallKey {
        CallKey { run: writer.lease().run, trial: call.trial.clone(), role: call.role.word(), n: call.n }
    }

    fn take_sent(&self, call: &CallId) -> Option<SentCall> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).remove(call)
    }

    async fn try_reserve(&self, ticket: CallTicket) -> Result<ReserveAnswer, LedgerFault> {
        let (sender, receiver) = oneshot::channel();
        self.writer()?.reserve(ticket, move |answer| drop(sender.send(answer)));
        answered(receiver).await
    }
}

#[async_trait]
impl Ledger for QueueLedger {
    async fn find_settled(&self, call: &CallId) -> Result<Option<SettledCall>, LedgerFault> {
        let writer = self.writer()?;
        let (sender, receiver) = oneshot::channel();
        writer.find_settled(Self::key(&writer, call), move |found| drop(sender.send(found)));
        Ok(answered(receiver).await?.map(|(cost, reply)| SettledCall { cost: Money::from_nanos(cost), reply }))
    }

    async fn reserve(&self, call: &CallId, ceiling: Money) -> Result<(), LedgerFault> {
        self.reserve_at(call, ceiling, "").await.map_err(|fault| LedgerFault(fault.to_string()))
    }

    async fn reserve_at(&self, call: &CallId, ceiling: Money, vendor: &str) -> Result<(), ReservationFault> {
        let key = Self::key(&self.writer()?, call);
        let ticket = CallTicket { call: key, ceiling: ceiling.as_nanos().min(i64::MAX as u64), vendor: vendor.to_owned() };
        loop {
            match self.try_reserve(ticket.clone()).await? {
                ReserveAnswer::Reserved { halvings } => {
                    let sent = SentCall { since: self.clock.stopwatch(), vendor: vendor.to_owned(), halvings };
                    self.sent.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), sent);
                    return Ok(());
                }
                ReserveAnswer::Wait(pause) => sleep(pause).await,
                ReserveAnswer::TooLittle { left } => {
                    return Err(BudgetExhausted::TooLittle { left: Money::from_nanos(left), ceiling }.into());
                }
                ReserveAnswer::Closed => return Err(BudgetExhausted::Closed.into()),
            }
        }
    }

    async fn record_throttle(&self, call: &CallId, wait: Option<Duration>) -> Result<(), LedgerFault> {
        let known = self.sent.lock().unwrap_or_else(PoisonError::into_inner).get(call).map(|sent| (sent.vendor.clone(), sent.halvings));
        if let Some((vendor, halvings)) = known {
            self.writer()?.write(QueueWrite::Throttle(VendorThrottle { vendor, wait, halvings }));
        }
        Ok(())
    }

    async fn record_doubt(&self, doubt: BillingDoubt) -> Result<(), LedgerFault> {
        self.writer()?.write(match doubt {
            BillingDoubt::Unreadable => QueueWrite::UnreadableBill,
            BillingDoubt::Impossible => QueueWrite::ImpossibleBill,
        });
        Ok(())
    }

    async fn settle(&self, call: &CallId, cost: Money, reply: &str) -> Result<(), LedgerFault> {
        let writer = self.writer()?;
        let sent = self.take_sent(call);
        let waited_us = sent.as_ref().and_then(|sent| u64::try_from(sent.since.elapsed().as_micros()).ok());
        let vendor = sent.map(|sent| sent.vendor).unwrap_or_default();
        let (call, cost, reply) = (Self::key(&writer, call), cost.as_nanos(), reply.to_owned());
        writer.write(QueueWrite::Settle { call, vendor, cost, waited_us, reply });
        Ok(())
    }

    async fn fail(&self, call: &CallId, cost: Money, why: &str) -> Result<(), LedgerFault> {
        let writer = self.writer()?;
        self.take_sent(call);
        writer.write(QueueWrite::Fail { call: Self::key(&writer, call), cost: cost.as_nanos(), why: why.to_owned() });
        writer.write(QueueWrite::Count { what: "failed_calls", n: 1 });
        Ok(())
    }

    async fn find_cached(&self, key: &ContentHash) -> Result<Option<String>, LedgerFault> {
        let writer = self.writer()?;
        let (sender, receiver) = oneshot::channel();
        writer.find_cached(key.clone(), self.ttl_s, move |found| drop(sender.send(found)));
        let found = answered(receiver).await?;
        if found.is_some() {
            writer.write(QueueWrite::Count { what: "cache_hits", n: 1 });
        }
        Ok(found)
    }

    async fn cache_reply(&self, key: &ContentHash, reply: &str) -> Result<(), LedgerFault> {
        self.writer()?.write(QueueWrite::CacheReply { key: key.clone(), reply: reply.to_owned() });
        Ok(())
    }
}

async fn answered<T>(receiver: oneshot::Receiver<Result<T, StoreError>>) -> Result<T, LedgerFault> {
    let answer = receiver.await.unwrap_or_else(|_| Err(StoreError::Journal("the thread of the queue ended".into())));
    answer.map_err(|error| LedgerFault(error.to_string()))
}
