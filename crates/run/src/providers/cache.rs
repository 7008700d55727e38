//! Reply cache across runs, keyed by request and seed. Concurrent identical requests are sent once.

use super::Provider;
use super::chat::{ModelCall, ModelReply};
use super::fault::ProviderFault;
use super::tool_names::VendorLimits;
use crate::ledger::Ledger;
use async_trait::async_trait;
use model::ContentHash;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Mutex as Turn;

/// Default lifetime of a cached reply in seconds.
pub const CACHE_TTL_S: u64 = 86_400;

#[derive(Debug)]
pub(super) struct CachingProvider<P> {
    inner: P,
    ledger: Arc<dyn Ledger>,
    /// Locks of requests in flight; identical requests wait for the first one.
    in_flight: Mutex<BTreeMap<ContentHash, Weak<Turn<()>>>>,
}

impl<P> CachingProvider<P> {
    pub(super) fn new(inner: P, ledger: Arc<dyn Ledger>) -> Self {
        Self { inner, ledger, in_flight: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ContentHash, Weak<Turn<()>>>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_flight_lock(&self, key: &ContentHash) -> Arc<Turn<()>> {
        let mut asking = self.lock();
        if let Some(turn) = asking.get(key).and_then(Weak::upgrade) {
            return turn;
        }
        asking.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Turn::new(()));
        asking.insert(key.clone(), Arc::downgrade(&turn));
        turn
    }
}

#[async_trait]
impl<P: Provider> Provider for CachingProvider<P> {
    fn vendor_limits(&self) -> VendorLimits {
        self.inner.vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        let key = ask.key();
        let turn = self.in_flight_lock(key);
        let _mine = turn.lock().await;
        if let Some(kept) = self.ledger.find_cached(key).await? {
            return ModelReply::from_json(&kept);
        }
        let reply = self.inner.ask(ask).await?;
        self.ledger.cache_reply(key, &reply.to_json()).await?;
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::MemoryLedger;
    use crate::providers::fault::FaultKind;
    use crate::providers::fixtures::{self, ScriptedProvider};

    #[tokio::test]
    async fn concurrent_identical_requests_are_sent_once() {
        let vendor = Arc::new(ScriptedProvider::always("yes"));
        let cache = Arc::new(CachingProvider::new(vendor.clone(), Arc::new(MemoryLedger::default())));
        let all: Vec<_> = (0..32)
            .map(|n| {
                let cache = cache.clone();
                tokio::spawn(async move { cache.ask(&fixtures::model_call(if n % 2 == 0 { "a" } else { "b" })).await.unwrap() })
            })
            .collect();
        for one in all {
            assert_eq!(one.await.unwrap().text(), "yes");
        }
        assert_eq!(vendor.call_count(), 2);
        assert!(cache.lock().len() <= 2);
    }

    #[tokio::test]
    async fn cache_key_includes_seed_and_faults_are_not_cached() {
        let vendor = Arc::new(ScriptedProvider::new(vec![Err(FaultKind::Server), Ok("first"), Ok("second")]));
        let cache = CachingProvider::new(vendor.clone(), Arc::new(MemoryLedger::default()));
        let ask = fixtures::model_call("a");
        assert!(cache.ask(&ask).await.is_err());
        assert_eq!(cache.ask(&ask).await.unwrap().text(), "first");
        assert_eq!(cache.ask(&ask).await.unwrap().text(), "first");
        assert_eq!(cache.ask(&ModelCall::new(ask.call.clone(), 8, ask.request().clone())).await.unwrap().text(), "second");
    }
}
