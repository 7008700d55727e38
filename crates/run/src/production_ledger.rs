//! Ledger of a judge of production traces: its money is reserved in the file of the traces before a request is sent, so that the budget of
//! a day holds for several processes and after a kill.

use crate::clock::Clock;
use crate::ledger::{CallId, Ledger, LedgerFault, SettledCall};
use async_trait::async_trait;
use model::{ContentHash, Money};
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::StoreError;
use store::production::{CallReservation, DayLimit, ProductionStore};

/// Seconds of a day.
const DAY_S: u64 = 86_400;

/// Ledger with a limit per day, UTC.
#[derive(Debug)]
pub struct ProductionLedger {
    store: Mutex<ProductionStore>,
    limit: Money,
    clock: Clock,
}

impl ProductionLedger {
    pub fn new(store: ProductionStore, limit: Money, clock: Clock) -> Self {
        Self { store: Mutex::new(store), limit, clock }
    }

    /// Returns the days since 1970.
    pub fn today(&self) -> u64 {
        u64::try_from(self.clock.unix_s()).unwrap_or(0) / DAY_S
    }

    /// Returns the money of a day, calls without an answer at their ceiling.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn spent_on(&self, day: u64) -> Result<Money, StoreError> {
        self.lock().judge_spending(day).map(Money::from_nanos)
    }

    fn lock(&self) -> MutexGuard<'_, ProductionStore> {
        // Each use is one transaction, so that a panic leaves nothing half done.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(call: &CallId) -> String {
    format!("{}/{}/{}", call.trial.as_str(), call.role.word(), call.n)
}

fn ledger_fault(error: StoreError) -> LedgerFault {
    LedgerFault(error.to_string())
}

#[async_trait]
impl Ledger for ProductionLedger {
    async fn find_settled(&self, call: &CallId) -> Result<Option<SettledCall>, LedgerFault> {
        let found = self.lock().settled_judge_call(&key(call)).map_err(ledger_fault)?;
        Ok(found.map(|(cost, reply)| SettledCall { cost: Money::from_nanos(cost), reply }))
    }

    async fn reserve(&self, call: &CallId, ceiling: Money) -> Result<(), LedgerFault> {
        let limit = DayLimit { day: self.today(), nanos: self.limit.as_nanos() };
        match self.lock().reserve_judge_call(&key(call), limit, ceiling.as_nanos()).map_err(ledger_fault)? {
            CallReservation::Reserved => Ok(()),
            CallReservation::TooLittle { left } => {
                let left = Money::from_nanos(left);
                Err(LedgerFault(format!("the budget of the day has {left} USD left and the call may cost {ceiling} USD")))
            }
        }
    }

    async fn settle(&self, call: &CallId, cost: Money, reply: &str) -> Result<(), LedgerFault> {
        self.lock().settle_judge_call(&key(call), cost.as_nanos(), Some(reply)).map_err(ledger_fault)
    }

    async fn fail(&self, call: &CallId, cost: Money, _why: &str) -> Result<(), LedgerFault> {
        self.lock().settle_judge_call(&key(call), cost.as_nanos(), None).map_err(ledger_fault)
    }

    /// A judge of traffic has no cache: a trace is asked about once.
    async fn find_cached(&self, _key: &ContentHash) -> Result<Option<String>, LedgerFault> {
        Ok(None)
    }

    async fn cache_reply(&self, _key: &ContentHash, _reply: &str) -> Result<(), LedgerFault> {
        Ok(())
    }
}
