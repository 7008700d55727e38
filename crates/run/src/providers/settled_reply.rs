//! Returns replies that this run already paid for, so that a resumed run does not repeat calls.

use super::Provider;
use super::chat::{ModelCall, ModelReply};
use super::fault::ProviderFault;
use super::tool_names::VendorLimits;
use crate::ledger::Ledger;
use async_trait::async_trait;
use model::ContentHash;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct SettledReplyProvider<P> {
    pub(super) inner: P,
    pub(super) ledger: Arc<dyn Ledger>,
}

/// Reply with the key of its request, so that it is never used for another request.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyedReply {
    key: ContentHash,
    reply: ModelReply,
}

pub(super) fn keyed_reply_json(ask: &ModelCall, reply: &ModelReply) -> String {
    let keyed = KeyedReply { key: ask.key().clone(), reply: reply.clone() };
    serde_json::to_string(&keyed).unwrap_or_else(|error| panic!("a reply is always JSON: {error}"))
}

#[async_trait]
impl<P: Provider> Provider for SettledReplyProvider<P> {
    fn vendor_limits(&self) -> VendorLimits {
        self.inner.vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        if let Some(settled) = self.ledger.find_settled(&ask.call).await? {
            let keyed: KeyedReply = serde_json::from_str(&settled.reply)
                .map_err(|error| ProviderFault::storage(format!("the settled reply to {} cannot be read: {error}", ask.call)))?;
            if keyed.key == *ask.key() {
                return Ok(keyed.reply);
            }
        }
        self.inner.ask(ask).await
    }
}
