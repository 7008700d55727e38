//! The one purse of a run: a call reserves the most it can cost before it is made, and settles what it did cost.

use model::Money;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Shared by everybody who asks a model in a run: subjects, judge and simulated user.
#[derive(Debug)]
pub struct Purse {
    /// `None` is a run without a budget: everything is counted, nothing refused.
    budget: Option<Money>,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    reserved: Money,
    spent: Money,
    under_way: u64,
}

/// The budget cannot pay for a call, and nothing under way could give any of it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the budget has {left} USD left and the call may cost {ceiling} USD")]
pub struct Unfunded {
    pub left: Money,
    pub ceiling: Money,
}

impl Purse {
    pub fn new(budget: Option<Money>) -> Arc<Self> {
        Arc::new(Self { budget, state: Mutex::default(), settled: Notify::new() })
    }

    pub fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    /// Settled so far; calls under way are not in it.
    pub fn spent(&self) -> Money {
        self.lock().spent
    }

    /// The most that can have been spent when everything under way has ended.
    pub fn committed(&self) -> Money {
        let state = self.lock();
        state.spent.plus(state.reserved)
    }

    /// Waits while a settlement of a call under way could make room.
    pub async fn reserve(self: &Arc<Self>, ceiling: Money) -> Result<Reservation, Unfunded> {
        loop {
            // Listening starts before looking, so that no settlement in between is missed.
            let settled = self.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            if let Some(answer) = self.try_reserve(ceiling) {
                return answer;
            }
            settled.await;
        }
    }

    fn try_reserve(self: &Arc<Self>, ceiling: Money) -> Option<Result<Reservation, Unfunded>> {
        let mut state = self.lock();
        let left = self.budget.map(|budget| budget.less(state.spent).less(state.reserved));
        match left {
            Some(left) if left < ceiling && state.under_way > 0 => None,
            Some(left) if left < ceiling => Some(Err(Unfunded { left, ceiling })),
            Some(_) | None => {
                state.reserved = state.reserved.plus(ceiling);
                state.under_way += 1;
                Some(Ok(Reservation { purse: self.clone(), ceiling, open: true }))
            }
        }
    }

    fn close(&self, ceiling: Money, cost: Money) {
        let mut state = self.lock();
        state.reserved = state.reserved.less(ceiling);
        state.spent = state.spent.plus(cost);
        state.under_way = state.under_way.saturating_sub(1);
        drop(state);
        self.settled.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing between taking and releasing can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Money set aside for one call. Dropped without a settlement, the call counts at its ceiling: it may have been answered and billed.
#[derive(Debug)]
pub struct Reservation {
    purse: Arc<Purse>,
    ceiling: Money,
    open: bool,
}

impl Reservation {
    pub fn ceiling(&self) -> Money {
        self.ceiling
    }

    /// What the call did cost. More than its ceiling is possible only if a vendor charges for more than it was sent and allowed to
    /// answer; it is counted as it is, so that the next call finds less.
    pub fn settle(mut self, cost: Money) {
        self.open = false;
        self.purse.close(self.ceiling, cost);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.open {
            self.purse.close(self.ceiling, self.ceiling);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_does_not_fit_waits_for_what_is_under_way_and_is_refused_when_nothing_is() {
        let purse = Purse::new(Some(Money::dollars(10)));
        let first = purse.reserve(Money::dollars(8)).await.unwrap();
        let waiting = tokio::spawn({
            let purse = purse.clone();
            async move { purse.reserve(Money::dollars(8)).await.map(|got| got.settle(Money::dollars(8))) }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        first.settle(Money::dollars(1));
        assert_eq!(waiting.await.unwrap(), Ok(()));
        let refused = purse.reserve(Money::dollars(2)).await.unwrap_err();
        assert_eq!(refused, Unfunded { left: Money::dollars(1), ceiling: Money::dollars(2) });
        assert_eq!(purse.spent(), Money::dollars(9));
    }

    #[tokio::test]
    async fn a_call_that_is_cut_off_counts_at_its_ceiling() {
        let purse = Purse::new(Some(Money::dollars(3)));
        drop(purse.reserve(Money::dollars(2)).await.unwrap());
        assert_eq!(purse.spent(), Money::dollars(2));
        assert!(purse.reserve(Money::dollars(2)).await.is_err());
    }

    #[tokio::test]
    async fn without_a_budget_everything_is_counted_and_nothing_refused() {
        let purse = Purse::new(None);
        purse.reserve(Money::MAX).await.unwrap().settle(Money::dollars(5));
        assert_eq!(purse.spent(), Money::dollars(5));
    }
}
