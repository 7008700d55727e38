//! Replies of earlier runs to the same request with the same seed; asked at most once at a time.

use super::Provider;
use super::fault::ProviderFault;
use super::names::Accepts;
use super::talk::{Ask, Reply};
use crate::ledger::Ledger;
use async_trait::async_trait;
use model::Hash;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Mutex as Turn;

/// How long a kept reply is good for, unless the environment says otherwise.
pub const CACHE_TTL_S: u64 = 86_400;

#[derive(Debug)]
pub(super) struct Cache<P> {
    inner: P,
    ledger: Arc<dyn Ledger>,
    /// Who asks for what now: others with the same question wait for the answer.
    asking: Mutex<BTreeMap<Hash, Weak<Turn<()>>>>,
}

impl<P> Cache<P> {
    pub(super) fn new(inner: P, ledger: Arc<dyn Ledger>) -> Self {
        Self { inner, ledger, asking: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Hash, Weak<Turn<()>>>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, key: &Hash) -> Arc<Turn<()>> {
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
impl<P: Provider> Provider for Cache<P> {
    fn accepts(&self) -> Accepts {
        self.inner.accepts()
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
        let key = ask.key();
        let turn = self.turn(key);
        let _mine = turn.lock().await;
        if let Some(kept) = self.ledger.cached(key).await? {
            return Reply::from_json(&kept);
        }
        let reply = self.inner.ask(ask).await?;
        self.ledger.keep(key, &reply.to_json()).await?;
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::MemoryLedger;
    use crate::providers::example::{self, Scripted};
    use crate::providers::fault::FaultKind;

    #[tokio::test]
    async fn the_same_question_is_asked_once_however_many_ask_it_at_once() {
        let vendor = Arc::new(Scripted::answering("yes"));
        let cache = Arc::new(Cache::new(vendor.clone(), Arc::new(MemoryLedger::default())));
        let all: Vec<_> = (0..32)
            .map(|n| {
                let cache = cache.clone();
                tokio::spawn(async move { cache.ask(&example::ask(if n % 2 == 0 { "a" } else { "b" })).await.unwrap() })
            })
            .collect();
        for one in all {
            assert_eq!(one.await.unwrap().text(), "yes");
        }
        assert_eq!(vendor.asked(), 2);
        assert!(cache.lock().len() <= 2);
    }

    #[tokio::test]
    async fn another_seed_is_another_question_and_a_fault_is_not_kept() {
        let vendor = Arc::new(Scripted::new(vec![Err(FaultKind::Server), Ok("first"), Ok("second")]));
        let cache = Cache::new(vendor.clone(), Arc::new(MemoryLedger::default()));
        let ask = example::ask("a");
        assert!(cache.ask(&ask).await.is_err());
        assert_eq!(cache.ask(&ask).await.unwrap().text(), "first");
        assert_eq!(cache.ask(&ask).await.unwrap().text(), "first");
        assert_eq!(cache.ask(&Ask::new(ask.call.clone(), 8, ask.request().clone())).await.unwrap().text(), "second");
    }
}
