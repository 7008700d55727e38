//! How many requests a vendor gets at once: halved when it asks for fewer, grown back while it answers.

use super::Provider;
use super::fault::{FaultKind, ProviderFault};
use super::names::Accepts;
use super::talk::{Ask, Reply};
use async_trait::async_trait;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Debug)]
pub(super) struct Rate<P> {
    inner: P,
    most: f64,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    /// A fraction is progress towards the next whole request.
    limit: f64,
    under_way: u32,
    /// Counts the times the limit was halved: requests sent before the last time do not halve it again.
    halved: u64,
}

impl<P> Rate<P> {
    pub(super) fn new(inner: P, at_once: usize) -> Self {
        let most = u32::try_from(at_once.max(1)).map_or(f64::from(u32::MAX), f64::from);
        Self { inner, most, state: Mutex::new(State { limit: most, under_way: 0, halved: 0 }), freed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn enter(&self) -> Slot<'_, P> {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            {
                let mut state = self.lock();
                if f64::from(state.under_way) + 1.0 <= state.limit {
                    state.under_way += 1;
                    return Slot { rate: self, halved: state.halved };
                }
            }
            freed.await;
        }
    }

    fn learn(&self, slot: &Slot<'_, P>, outcome: Result<&Reply, FaultKind>) {
        let mut state = self.lock();
        match outcome {
            Ok(_) => state.limit = (state.limit + 1.0 / state.limit).min(self.most),
            Err(FaultKind::RateLimited | FaultKind::Overloaded) if slot.halved == state.halved => {
                state.limit = (state.limit / 2.0).max(1.0);
                state.halved += 1;
            }
            Err(_) => {}
        }
    }
}

/// A place in the queue of the vendor, given back when dropped.
struct Slot<'r, P> {
    rate: &'r Rate<P>,
    halved: u64,
}

impl<P> Drop for Slot<'_, P> {
    fn drop(&mut self) {
        self.rate.lock().under_way -= 1;
        self.rate.freed.notify_waiters();
    }
}

#[async_trait]
impl<P: Provider> Provider for Rate<P> {
    fn accepts(&self) -> Accepts {
        self.inner.accepts()
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
        let slot = self.enter().await;
        let answered = self.inner.ask(ask).await;
        self.learn(&slot, answered.as_ref().map_err(|fault| fault.kind));
        answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::example;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// Refuses everything above so many at once, as a vendor does.
    struct Vendor {
        takes: u32,
        under_way: AtomicU32,
        refused: AtomicU32,
        most: AtomicU32,
    }

    #[async_trait]
    impl Provider for Arc<Vendor> {
        fn accepts(&self) -> Accepts {
            example::ACCEPTS
        }

        async fn ask(&self, _: &Ask) -> Result<Reply, ProviderFault> {
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            if now > self.takes {
                self.refused.fetch_add(1, Ordering::SeqCst);
                return Err(ProviderFault::new(FaultKind::RateLimited, ""));
            }
            Ok(example::reply("ok"))
        }
    }

    #[tokio::test]
    async fn it_backs_off_to_what_the_vendor_takes_and_recovers() {
        let vendor = Arc::new(Vendor { takes: 8, under_way: 0.into(), refused: 0.into(), most: 0.into() });
        let rate = Arc::new(Rate::new(vendor.clone(), 64));
        let ask_all = |count: u32| {
            let rate = rate.clone();
            async move {
                let all = (0..count).map(|n| {
                    let rate = rate.clone();
                    tokio::spawn(async move { rate.ask(&example::ask(&n.to_string())).await.is_ok() })
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
        // The first burst was refused as a whole and halved the limit once, not 56 times.
        assert_eq!(rate.lock().halved, 1);
        ask_all(400).await;
        assert!(rate.lock().limit <= 20.0, "{}", rate.lock().limit);
        vendor.refused.store(0, Ordering::SeqCst);
        let good = ask_all(400).await;
        assert!(good > 320, "{good} of 400");
        assert!(rate.lock().limit >= 4.0);
    }

    #[tokio::test]
    async fn a_caller_that_gives_up_frees_its_place() {
        let vendor = Arc::new(Vendor { takes: 8, under_way: 0.into(), refused: 0.into(), most: 0.into() });
        let rate = Rate::new(vendor, 1);
        let (first, mut nobody) = (example::ask("a"), std::task::Context::from_waker(std::task::Waker::noop()));
        let mut cut = rate.ask(&first);
        assert!(cut.as_mut().poll(&mut nobody).is_pending());
        drop(cut);
        assert!(rate.ask(&example::ask("b")).await.is_ok());
    }
}
