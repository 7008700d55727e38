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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::CallRole;
    use std::time::{Duration, SystemTime};

    /// Last second of day 10.
    fn late() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(11 * DAY_S - 1)
    }

    fn next_morning() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(11 * DAY_S)
    }

    fn call(n: u32) -> CallId {
        CallId { trial: ContentHash::of_text("a trace"), role: CallRole::Judge, n }
    }

    fn ledger(folder: &tempfile::TempDir, now: fn() -> SystemTime) -> ProductionLedger {
        let store = ProductionStore::open(folder.path().join("production.sqlite")).unwrap();
        ProductionLedger::new(store, Money::from_dollars(5), Clock::dated(now))
    }

    #[tokio::test]
    async fn budget_of_a_day_holds_over_processes() {
        let folder = tempfile::tempdir().unwrap();
        let first = ledger(&folder, late);
        first.reserve(&call(0), Money::from_dollars(3)).await.unwrap();
        // A process that was killed leaves its call open, and that counts at its ceiling.
        drop(first);
        let second = ledger(&folder, late);
        assert_eq!(second.spent_on(10).unwrap(), Money::from_dollars(3));
        let refused = second.reserve(&call(1), Money::from_dollars(3)).await.unwrap_err().to_string();
        assert!(refused.contains("2.00 USD left") && refused.contains("may cost 3.00 USD"), "{refused}");
        second.reserve(&call(1), Money::from_dollars(2)).await.unwrap();
        second.settle(&call(1), Money::from_dollars(1), "granted").await.unwrap();
        let third = ledger(&folder, next_morning);
        third.reserve(&call(2), Money::from_dollars(5)).await.unwrap();
        assert_eq!([10, 11].map(|day| third.spent_on(day).unwrap()), [4, 5].map(Money::from_dollars));
    }

    #[tokio::test]
    async fn settled_call_is_found_with_its_cost_and_reply() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder, late);
        for n in [0, 1] {
            ledger.reserve(&call(n), Money::from_dollars(1)).await.unwrap();
        }
        ledger.settle(&call(0), Money::from_nanos(7), "granted").await.unwrap();
        ledger.fail(&call(1), Money::from_nanos(3), "cut off").await.unwrap();
        let found = ledger.find_settled(&call(0)).await.unwrap();
        assert_eq!(found, Some(SettledCall { cost: Money::from_nanos(7), reply: "granted".to_owned() }));
        assert_eq!(ledger.find_settled(&call(1)).await.unwrap(), None);
        assert_eq!(ledger.spent_on(ledger.today()).unwrap(), Money::from_nanos(10));
        // The cache of runs holds nothing for it.
        let key = ContentHash::of_text("a request");
        ledger.cache_reply(&key, "{}").await.unwrap();
        assert_eq!(ledger.find_cached(&key).await.unwrap(), None);
    }
}
