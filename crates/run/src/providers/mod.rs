//! Everything between a trial and the vendor of a model: one wire format per file, and wrappers that are providers themselves.

mod anthropic;
mod cache;
pub mod cassette;
#[cfg(test)]
pub(crate) mod example;
mod fault;
#[cfg(test)]
mod hostile;
mod insist;
mod key;
mod line;
mod names;
mod ollama;
mod openai_chat;
mod openai_responses;
mod price;
mod rate;
mod retry;
mod settled;
mod stack;
mod talk;
mod unplugged;
mod waits;
mod wire;

pub use cache::CACHE_TTL_S;
pub use cassette::Cassette;
pub use fault::{FaultKind, ProviderFault};
pub use key::Key;
pub use names::Accepts;
pub use price::{ceiling, cost};
pub use retry::Patience;
pub use stack::{NoProvider, Terms, accepts, provider};
pub use talk::{Args, Ask, Block, By, Choice, Message, Reply, Request, Stop, Usage};

use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

/// One model behind one API, or something around one. Whatever sends requests is built by [`provider`] with the budget of the run in it.
#[async_trait]
pub trait Provider: Send + Sync {
    /// How many tools it takes, and under which names.
    fn accepts(&self) -> Accepts;

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault>;
}

/// A whole stack, shared by all trials of a subject.
pub type SharedProvider = Arc<dyn Provider>;

#[async_trait]
impl Provider for SharedProvider {
    fn accepts(&self) -> Accepts {
        self.as_ref().accepts()
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
        self.as_ref().ask(ask).await
    }
}

impl fmt::Debug for dyn Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a provider")
    }
}

/// Chooses how connections are encrypted. Called first thing in the program: a client built without it panics.
pub fn choose_tls() {
    // A second installation changes nothing, so the result says nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
