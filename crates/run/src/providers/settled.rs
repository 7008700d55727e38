//! Replies this run already paid for: after a kill, nobody is asked twice.

use super::Provider;
use super::fault::ProviderFault;
use super::names::Accepts;
use super::talk::{Ask, Reply};
use crate::ledger::Ledger;
use async_trait::async_trait;
use model::Hash;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct SettledFirst<P> {
    pub(super) inner: P,
    pub(super) ledger: Arc<dyn Ledger>,
}

/// A reply with the key of what it answers, so that it is never taken for the answer to something else.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    key: Hash,
    reply: Reply,
}

pub(super) fn sealed(ask: &Ask, reply: &Reply) -> String {
    let sealed = Sealed { key: ask.key().clone(), reply: reply.clone() };
    serde_json::to_string(&sealed).unwrap_or_else(|error| panic!("a reply is always JSON: {error}"))
}

#[async_trait]
impl<P: Provider> Provider for SettledFirst<P> {
    fn accepts(&self) -> Accepts {
        self.inner.accepts()
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
        if let Some(settled) = self.ledger.settled(&ask.call).await? {
            let sealed: Sealed = serde_json::from_str(&settled.reply)
                .map_err(|error| ProviderFault::stored(format!("the settled reply to {} cannot be read: {error}", ask.call)))?;
            if sealed.key == *ask.key() {
                return Ok(sealed.reply);
            }
        }
        self.inner.ask(ask).await
    }
}
