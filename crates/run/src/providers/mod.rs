//! LLM providers: one file per wire format, and wrappers (cache, retry, rate limit, cassette) that are providers themselves.

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
mod fuzz_target;
mod http_provider;
mod offline;
mod ollama;
mod openai_chat;
mod openai_responses;
mod outage;
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
#[doc(hidden)]
pub use fuzz_target::parse_any_reply;
pub use outage::{MAX_FAILED_IN_A_ROW, OutageMonitor, VendorOutage};
pub use price::{ceiling, cost};
pub use retry::RetryPolicy;
pub(crate) use stack::build_agent_server;
pub use stack::{ProviderBuildError, ProviderConfig, build_provider, vendor_limits};
pub use tool_names::VendorLimits;

use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

/// LLM behind an API, or a wrapper around one. Providers that send requests are built only by [`build_provider`], with the run's budget.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Returns the vendor's limits on the number and names of tools.
    fn vendor_limits(&self) -> VendorLimits;

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault>;
}

/// Provider stack, shared by all trials of a subject.
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

/// Installs the TLS crypto provider. Must run before the first client is built, which would panic otherwise.
pub fn install_tls_provider() {
    // Fails if one is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
