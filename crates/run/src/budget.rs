//! Budget of a run. Each call reserves its maximum cost before it is sent and settles the actual cost afterwards.

use model::Money;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Money limit shared by all LLM calls of a run: subjects, judge and simulated user.
#[derive(Debug)]
pub struct Budget {
    /// `None` records spending without a limit.
    limit: Option<Money>,
    enforcement: LimitEnforcement,
    state: Mutex<BudgetState>,
    settled: Notify,
}

/// Place where a limit is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitEnforcement {
    Here,
    /// The ledger refuses calls, for all machines together.
    Ledger,
}

#[derive(Debug, Default)]
struct BudgetState {
    reserved: Money,
    spent: Money,
    /// Spent by earlier processes of the same run.
    spent_before: Money,
    under_way: u64,
    billing: BillingDoubts,
    /// Ceiling of the cheapest call that was refused.
    cheapest_refused: Option<Money>,
}

/// Money that was missing for the cheapest call that was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FundingGap {
    /// Amount that the call reserves: the most it can cost.
    pub reserved: Money,
    /// Least limit of the run with which the call would have been sent.
    pub least_limit: Money,
}

/// Replies whose token counts could not be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BillingDoubts {
    /// Replies without readable counts, charged at the ceiling of the call.
    pub unreadable: u64,
    /// Replies with counts that the request did not allow, charged at the ceiling of the call. The first one closes the budget.
    pub impossible: u64,
}

/// Reason why a call is not paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BudgetExhausted {
    /// The budget cannot cover the call, and no call in flight could release enough of it.
    #[error("the budget has {left} USD left and the call may cost {ceiling} USD")]
    TooLittle { left: Money, ceiling: Money },
    /// A vendor reported counts that cannot be true, so its prices cannot be known.
    #[error("a vendor reported more tokens than the request allowed, so no further call is paid")]
    Closed,
}

impl Budget {
    pub fn new(limit: Option<Money>) -> Arc<Self> {
        Arc::new(Self { limit, enforcement: LimitEnforcement::Here, state: Mutex::default(), settled: Notify::new() })
    }

    /// Returns a budget whose limit the ledger enforces, because other machines spend of it too. This one counts what this process spends.
    pub fn shared(limit: Option<Money>) -> Arc<Self> {
        Arc::new(Self { limit, enforcement: LimitEnforcement::Ledger, state: Mutex::default(), settled: Notify::new() })
    }

    /// Takes over the sums of a budget that the ledger enforces, for a process that watches others spend.
    pub fn show(&self, spent: Money, billing: BillingDoubts, cheapest_refused: Option<Money>) {
        let mut state = self.lock();
        (state.spent, state.billing, state.cheapest_refused) = (spent, billing, cheapest_refused);
    }

    pub fn has_limit(&self) -> bool {
        self.limit.is_some()
    }

    /// Lowers the limit by the amount that earlier processes of the same run spent.
    pub fn deduct(&self, spent: Money) {
        let mut state = self.lock();
        state.spent_before = state.spent_before.saturating_add(spent);
    }

    /// Returns the amount this process has settled, without calls in flight.
    pub fn spent(&self) -> Money {
        self.lock().spent
    }

    /// Returns the money that was missing; `None` if every call was funded.
    pub fn funding_gap(&self) -> Option<FundingGap> {
        let state = self.lock();
        let least_limit = |reserved| state.spent_before.saturating_add(state.spent).saturating_add(state.reserved).saturating_add(reserved);
        state.cheapest_refused.map(|reserved| FundingGap { reserved, least_limit: least_limit(reserved) })
    }

    pub fn billing_doubts(&self) -> BillingDoubts {
        self.lock().billing
    }

    /// Returns the settled amount plus the ceilings of calls in flight.
    pub fn committed(&self) -> Money {
        let state = self.lock();
        state.spent.saturating_add(state.reserved)
    }

    /// Reserves `ceiling`, waiting while a call in flight could still release money.
    ///
    /// # Errors
    /// Fails if `ceiling` exceeds the rest of the budget and no call is in flight.
    pub async fn reserve(self: &Arc<Self>, ceiling: Money) -> Result<BudgetReservation, BudgetExhausted> {
        loop {
            // Subscribe before checking, so that a settlement in between is not missed.
            let settled = self.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            if let Some(answer) = self.try_reserve(ceiling) {
                return answer;
            }
            settled.await;
        }
    }

    fn try_reserve(self: &Arc<Self>, ceiling: Money) -> Option<Result<BudgetReservation, BudgetExhausted>> {
        let mut state = self.lock();
        if state.billing.impossible > 0 {
            return Some(Err(BudgetExhausted::Closed));
        }
        let limit = self.limit.filter(|_| self.enforcement == LimitEnforcement::Here);
        let left = limit.map(|limit| limit.saturating_sub(state.spent_before).saturating_sub(state.spent).saturating_sub(state.reserved));
        match left {
            Some(left) if left < ceiling && state.under_way > 0 => None,
            Some(left) if left < ceiling => {
                state.cheapest_refused = Some(state.cheapest_refused.map_or(ceiling, |cheapest| cheapest.min(ceiling)));
                Some(Err(BudgetExhausted::TooLittle { left, ceiling }))
            }
            Some(_) | None => {
                state.reserved = state.reserved.saturating_add(ceiling);
                state.under_way += 1;
                Some(Ok(BudgetReservation { budget: self.clone(), ceiling, open: true }))
            }
        }
    }

    fn close(&self, ceiling: Money, cost: Money) {
        let mut state = self.lock();
        state.reserved = state.reserved.saturating_sub(ceiling);
        state.spent = state.spent.saturating_add(cost);
        state.under_way = state.under_way.saturating_sub(1);
        drop(state);
        self.settled.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, BudgetState> {
        // No code that holds the lock can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Money reserved for one call. Dropping it without settling charges the ceiling, because the vendor may have answered and billed.
#[derive(Debug)]
pub struct BudgetReservation {
    budget: Arc<Budget>,
    ceiling: Money,
    open: bool,
}

impl BudgetReservation {
    pub fn ceiling(&self) -> Money {
        self.ceiling
    }

    /// Returns whether a vendor cannot have earned this amount with the call.
    pub fn is_impossible(&self, cost: Money) -> bool {
        cost > self.ceiling
    }

    /// Returns the money of a call that was not sent.
    pub fn release(mut self) {
        self.open = false;
        self.budget.close(self.ceiling, Money::ZERO);
    }

    /// Settles the actual cost and returns the amount charged. A cost above the ceiling is impossible: the request has fewer bytes and
    /// allows fewer tokens. The ceiling is charged, and no further call is paid.
    pub fn settle(mut self, cost: Money) -> Money {
        self.open = false;
        if self.is_impossible(cost) {
            self.budget.lock().billing.impossible += 1;
        }
        let charged = cost.min(self.ceiling);
        self.budget.close(self.ceiling, charged);
        charged
    }

    /// Settles a reply without readable counts at the ceiling, and returns it.
    pub fn settle_unreadable(self) -> Money {
        self.budget.lock().billing.unreadable += 1;
        let ceiling = self.ceiling;
        self.settle(ceiling)
    }
}

impl Drop for BudgetReservation {
    fn drop(&mut self) {
        if self.open {
            self.budget.close(self.ceiling, self.ceiling);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reserve_waits_for_open_calls_then_refuses() {
        let budget = Budget::new(Some(Money::from_dollars(10)));
        let first = budget.reserve(Money::from_dollars(8)).await.unwrap();
        let waiting = tokio::spawn({
            let budget = budget.clone();
            async move { budget.reserve(Money::from_dollars(8)).await.map(|got| got.settle(Money::from_dollars(8))) }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        first.settle(Money::from_dollars(1));
        assert_eq!(waiting.await.unwrap(), Ok(Money::from_dollars(8)));
        let refused = budget.reserve(Money::from_dollars(2)).await.unwrap_err();
        assert_eq!(refused, BudgetExhausted::TooLittle { left: Money::from_dollars(1), ceiling: Money::from_dollars(2) });
        assert_eq!(budget.spent(), Money::from_dollars(9));
    }

    #[tokio::test]
    async fn funding_gap_is_that_of_the_cheapest_refused_call() {
        let budget = Budget::new(Some(Money::from_dollars(5)));
        budget.deduct(Money::from_dollars(1));
        budget.reserve(Money::from_dollars(2)).await.unwrap().settle(Money::from_dollars(1));
        assert_eq!(budget.funding_gap(), None);
        for ceiling in [9, 7, 8] {
            assert!(budget.reserve(Money::from_dollars(ceiling)).await.is_err());
        }
        let gap = FundingGap { reserved: Money::from_dollars(7), least_limit: Money::from_dollars(9) };
        assert_eq!(budget.funding_gap(), Some(gap));
    }

    #[tokio::test]
    async fn dropped_reservation_is_spent_at_its_ceiling() {
        let budget = Budget::new(Some(Money::from_dollars(3)));
        drop(budget.reserve(Money::from_dollars(2)).await.unwrap());
        assert_eq!(budget.spent(), Money::from_dollars(2));
        assert!(budget.reserve(Money::from_dollars(2)).await.is_err());
    }

    #[tokio::test]
    async fn deducted_money_lowers_the_limit_but_is_not_spent() {
        let budget = Budget::new(Some(Money::from_dollars(3)));
        budget.deduct(Money::from_dollars(2));
        assert!(budget.reserve(Money::from_dollars(2)).await.is_err());
        budget.reserve(Money::from_dollars(1)).await.unwrap().settle(Money::from_dollars(1));
        assert_eq!(budget.spent(), Money::from_dollars(1));
    }

    /// For all that a vendor reports, the bill exceeds the limit by no more than the calls in flight could cost.
    #[tokio::test]
    async fn impossible_counts_close_the_budget() {
        for limit in [None, Some(Money::from_dollars(10))] {
            let budget = Budget::new(limit);
            let calls = [budget.reserve(Money::from_dollars(1)).await.unwrap(), budget.reserve(Money::from_dollars(1)).await.unwrap()];
            let charged: Vec<Money> = calls.into_iter().map(|call| call.settle(Money::from_dollars(1_000))).collect();
            assert_eq!(charged, [Money::from_dollars(1), Money::from_dollars(1)]);
            assert_eq!(budget.reserve(Money::ZERO).await.unwrap_err(), BudgetExhausted::Closed);
            assert_eq!((budget.spent(), budget.billing_doubts().impossible), (Money::from_dollars(2), 2));
        }
        // The ceiling itself is possible, a nano-dollar more is not.
        let budget = Budget::new(Some(Money::from_dollars(10)));
        assert_eq!(budget.reserve(Money::from_dollars(2)).await.unwrap().settle(Money::from_dollars(2)), Money::from_dollars(2));
        assert_eq!(budget.reserve(Money::from_dollars(2)).await.unwrap().settle_unreadable(), Money::from_dollars(2));
        assert_eq!(budget.billing_doubts(), BillingDoubts { unreadable: 1, impossible: 0 });
        let above = Money::from_dollars(2).saturating_add(Money::from_nanos(1));
        assert_eq!(budget.reserve(Money::from_dollars(2)).await.unwrap().settle(above), Money::from_dollars(2));
        assert_eq!(budget.reserve(Money::ZERO).await.unwrap_err(), BudgetExhausted::Closed);
    }

    #[tokio::test]
    async fn committed_money_is_spent_or_in_flight() {
        let budget = Budget::new(Some(Money::from_dollars(10)));
        let open = budget.reserve(Money::from_dollars(4)).await.unwrap();
        budget.reserve(Money::from_dollars(3)).await.unwrap().settle(Money::from_dollars(2));
        assert_eq!((budget.committed(), budget.spent()), (Money::from_dollars(6), Money::from_dollars(2)));
        open.release();
        assert_eq!((budget.committed(), budget.spent()), (Money::from_dollars(2), Money::from_dollars(2)));
        // The rest to the last dollar may be reserved.
        assert_eq!(budget.reserve(Money::from_dollars(8)).await.unwrap().ceiling(), Money::from_dollars(8));
    }

    #[tokio::test]
    async fn shared_budget_counts_what_its_ledger_limits() {
        let budget = Budget::shared(Some(Money::from_dollars(1)));
        assert!(budget.has_limit() && !Budget::shared(None).has_limit() && !Budget::new(None).has_limit());
        budget.reserve(Money::from_dollars(5)).await.unwrap().settle(Money::from_dollars(4));
        assert_eq!(budget.spent(), Money::from_dollars(4));
        let doubts = BillingDoubts { unreadable: 2, impossible: 1 };
        budget.show(Money::from_dollars(7), doubts, Some(Money::from_dollars(2)));
        assert_eq!((budget.spent(), budget.billing_doubts()), (Money::from_dollars(7), doubts));
        let gap = FundingGap { reserved: Money::from_dollars(2), least_limit: Money::from_dollars(9) };
        assert_eq!(budget.funding_gap(), Some(gap));
    }

    #[tokio::test]
    async fn budget_without_limit_counts_and_refuses_nothing() {
        let budget = Budget::new(None);
        budget.reserve(Money::MAX).await.unwrap().settle(Money::from_dollars(5));
        assert_eq!(budget.spent(), Money::from_dollars(5));
    }
}
