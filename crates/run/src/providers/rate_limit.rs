//! Adaptive concurrency limit per vendor: halved on rate-limit faults, raised by successful replies.

use super::Provider;
use super::chat::{ModelCall, ModelReply};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use async_trait::async_trait;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Debug)]
pub(super) struct RateLimitedProvider<P> {
    inner: P,
    max_limit: f64,
    state: Mutex<RateState>,
    freed: Notify,
}

#[derive(Debug)]
struct RateState {
    /// Current limit; the fraction is progress towards the next whole request.
    limit: f64,
    in_flight: u32,
    /// Number of halvings. Requests sent before the last one do not halve the limit again.
    halvings: u64,
}

impl<P> RateLimitedProvider<P> {
    pub(super) fn new(inner: P, at_once: usize) -> Self {
        let most = u32::try_from(at_once.max(1)).map_or(f64::from(u32::MAX), f64::from);
        Self { inner, max_limit: most, state: Mutex::new(RateState { limit: most, in_flight: 0, halvings: 0 }), freed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, RateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn acquire(&self) -> RatePermit<'_, P> {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            {
                let mut state = self.lock();
                if f64::from(state.in_flight) + 1.0 <= state.limit {
                    state.in_flight += 1;
                    return RatePermit { rate: self, halvings: state.halvings };
                }
            }
            freed.await;
        }
    }

    fn record_outcome(&self, slot: &RatePermit<'_, P>, outcome: Result<&ModelReply, FaultKind>) {
        let mut state = self.lock();
        match outcome {
            Ok(_) => state.limit = (state.limit + 1.0 / state.limit).min(self.max_limit),
            Err(FaultKind::RateLimited | FaultKind::Overloaded) if slot.halvings == state.halvings => {
                state.limit = (state.limit / 2.0).max(1.0);
                state.halvings += 1;
            }
            Err(_) => {}
        }
    }
}

/// Permit for one request, released on drop.
struct RatePermit<'r, P> {
    rate: &'r RateLimitedProvider<P>,
    halvings: u64,
}

impl<P> Drop for RatePermit<'_, P> {
    fn drop(&mut self) {
        self.rate.lock().in_flight -= 1;
        self.rate.freed.notify_waiters();
    }
}

#[async_trait]
impl<P: Provider> Provider for RateLimitedProvider<P> {
    fn vendor_limits(&self) -> VendorLimits {
        self.inner.vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        let slot = self.acquire().await;
        let answered = self.inner.ask(ask).await;
        self.record_outcome(&slot, answered.as_ref().map_err(|fault| fault.kind));
        answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::fixtures;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// Vendor that rejects requests above a concurrency limit.
    struct ThrottlingVendor {
        takes: u32,
        under_way: AtomicU32,
        refused: AtomicU32,
        most: AtomicU32,
    }

    #[async_trait]
    impl Provider for Arc<ThrottlingVendor> {
        fn vendor_limits(&self) -> VendorLimits {
            fixtures::ACCEPTS
        }

        async fn ask(&self, _: &ModelCall) -> Result<ModelReply, ProviderFault> {
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            if now > self.takes {
                self.refused.fetch_add(1, Ordering::SeqCst);
                return Err(ProviderFault::new(FaultKind::RateLimited, ""));
            }
            Ok(fixtures::reply("ok"))
        }
    }

    #[tokio::test]
    async fn rate_limit_backs_off_and_recovers() {
        let vendor = Arc::new(ThrottlingVendor { takes: 8, under_way: 0.into(), refused: 0.into(), most: 0.into() });
        let rate = Arc::new(RateLimitedProvider::new(vendor.clone(), 64));
        let ask_all = |count: u32| {
            let rate = rate.clone();
            async move {
                let all = (0..count).map(|n| {
                    let rate = rate.clone();
                    tokio::spawn(async move { rate.ask(&fixtures::model_call(&n.to_string())).await.is_ok() })
                });
                let mut good = 0;
                for one in all.collect::<Vec<_>>() {
                    good += u32::from(one.await.unwrap());
                }
                good
            }
        };
        ask_all(64).await;
        assert_eq!(vendor.most.load(Ordering::SeqCst), 64);
        // The rejected requests of the first burst halved the limit once, not 56 times.
        assert_eq!(rate.lock().halvings, 1);
        ask_all(400).await;
        assert!(rate.lock().limit <= 20.0, "{}", rate.lock().limit);
        vendor.refused.store(0, Ordering::SeqCst);
        let good = ask_all(400).await;
        assert!(good > 320, "{good} of 400");
        assert!(rate.lock().limit >= 4.0);
    }

    #[tokio::test]
    async fn dropped_call_releases_its_rate_permit() {
        let vendor = Arc::new(ThrottlingVendor { takes: 8, under_way: 0.into(), refused: 0.into(), most: 0.into() });
        let rate = RateLimitedProvider::new(vendor, 1);
        let (first, mut context) = (fixtures::model_call("a"), std::task::Context::from_waker(std::task::Waker::noop()));
        let mut cut = rate.ask(&first);
        assert!(cut.as_mut().poll(&mut context).is_pending());
        drop(cut);
        assert!(rate.ask(&fixtures::model_call("b")).await.is_ok());
    }
}
