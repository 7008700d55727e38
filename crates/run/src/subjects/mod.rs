//! Subjects under evaluation. A subject receives a view and returns its next move.

mod alert;
mod baseline;
mod echo;
mod fault;
mod guarded;
mod gullible;
mod last_move;
pub mod llm;
mod marker_watch;
mod paranoid;
mod reference;
mod script;
mod text_guard;
mod with_peers;

pub use ::baseline::{BaselineAgent, BaselineIndex};
pub use alert::AlertSubject;
pub use echo::EchoSubject;
pub use fault::SubjectFault;
pub use guarded::{GuardedSubject, SharedGuard};
pub use gullible::GullibleSubject;
pub use last_move::LastMoveSubject;
pub use paranoid::ParanoidSubject;
pub use reference::ReferenceSubject;
pub use script::TrialScript;
pub use text_guard::{GuardedText, MonitoredSubject, TextGuard};
pub use with_peers::SubjectWithPeers;

use crate::limits::{ReplyTotals, SubjectUsage};
use async_trait::async_trait;
use model::transcript::Move;
use model::view::View;
use model::{ProviderKind, SubjectFile, UserError};
use store::AgentOutput;

#[async_trait]
pub trait Subject: Send {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault>;

    /// Returns the usage since the start of the trial. Zero for subjects without an LLM.
    fn usage(&self) -> SubjectUsage {
        SubjectUsage::default()
    }

    /// Returns the totals of the replies so far; `None` for subjects whose model calls are not ours.
    fn reply_totals(&self) -> Option<ReplyTotals> {
        None
    }

    /// Returns the output of the programs that were started for this subject, if it is an external agent.
    async fn agent_output(&mut self) -> Option<AgentOutput> {
        None
    }
}

/// Subject that cannot be run, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("subject \"{subject}\" cannot run: {why}")]
pub struct SubjectUnavailable {
    pub subject: String,
    pub why: String,
    /// Empty if no remedy is known.
    pub remedy: &'static str,
}

impl From<SubjectUnavailable> for UserError {
    fn from(error: SubjectUnavailable) -> Self {
        UserError::new(error.to_string(), error.remedy)
    }
}

/// Kinds of subject that run without an LLM provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnableSubject {
    Reference,
    Fault,
    Gullible,
    Paranoid,
    Echo,
    Baseline,
    /// External program or service.
    External,
    /// Server of the OpenAI-compatible chat API that is an agent.
    ChatAgent,
}

/// Returns the kind of a subject that runs without an LLM provider.
///
/// # Errors
/// Fails for LLM providers, which need [`crate::SubjectPool`].
pub fn runnable_subject(subject: &SubjectFile) -> Result<RunnableSubject, SubjectUnavailable> {
    match subject.provider {
        ProviderKind::Reference => Ok(RunnableSubject::Reference),
        ProviderKind::Fault => Ok(RunnableSubject::Fault),
        ProviderKind::Gullible => Ok(RunnableSubject::Gullible),
        ProviderKind::Paranoid => Ok(RunnableSubject::Paranoid),
        ProviderKind::Echo => Ok(RunnableSubject::Echo),
        ProviderKind::Baseline => Ok(RunnableSubject::Baseline),
        ProviderKind::Process | ProviderKind::Http | ProviderKind::Mcp | ProviderKind::A2a => Ok(RunnableSubject::External),
        ProviderKind::Chat => Ok(RunnableSubject::ChatAgent),
        ProviderKind::Anthropic | ProviderKind::OpenAi | ProviderKind::OpenAiCompatible | ProviderKind::Ollama => Err(SubjectUnavailable {
            subject: subject.name.value.clone(),
            why: format!("provider {} needs an LLM connection", subject.provider.word()),
            remedy: "",
        }),
    }
}
