//! Everything between a trial and the vendor of a model: one wire format per file, and wrappers that are providers themselves.

mod anthropic;
mod api_key;
mod cache;
pub mod cassette;
mod chat;
mod fault;
#[cfg(test)]
pub(crate) mod fixtures;
mod forced_call;
#[cfg(test)]
mod fuzz_replies;
mod http_provider;
mod offline;
mod ollama;
mod openai_chat;
mod openai_responses;
mod price;
mod rate_limit;
mod retry;
mod retry_after;
mod settled_reply;
mod stack;
mod tool_names;
mod wire;

pub use api_key::ApiKey;
pub use cache::CACHE_TTL_S;
pub use cassette::CassetteMode;
pub use chat::{
    CallArguments, ChatMessage, ContentBlock, MessageRole, ModelCall, ModelReply, ModelRequest, StopReason, TokenUsage, ToolChoice,
};
pub use fault::{FaultKind, ProviderFault};
pub use price::{ceiling, cost};
pub use retry::RetryPolicy;
pub use stack::{ProviderBuildError, ProviderConfig, build_provider, vendor_limits};
pub use tool_names::VendorLimits;

use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

/// One model behind one API, or something around one. Whatever sends requests is built by [`provider`] with the budget of the run in it.
#[async_trait]
pub trait Provider: Send + Sync {
    /// How many tools it takes, and under which names.
    fn vendor_limits(&self) -> VendorLimits;

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault>;
}

/// A whole stack, shared by all trials of a subject.
pub type SharedProvider = Arc<dyn Provider>;

#[async_trait]
impl Provider for SharedProvider {
    fn vendor_limits(&self) -> VendorLimits {
        self.as_ref().vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        self.as_ref().ask(ask).await
    }
}

impl fmt::Debug for dyn Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a provider")
    }
}

/// Chooses how connections are encrypted. Called first thing in the program: a client built without it panics.
pub fn install_tls_provider() {
    // A second installation changes nothing, so the result says nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
