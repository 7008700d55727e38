//! Who is evaluated. A subject sees a view and answers with its next move.

mod baseline;
mod echo;
mod fault;
mod gullible;
pub mod llm;
mod paranoid;
mod reference;
mod with_peers;

pub use ::baseline::{BaselineAgent, BaselineIndex};
pub use echo::EchoSubject;
pub use fault::SubjectFault;
pub use gullible::GullibleSubject;
pub use paranoid::ParanoidSubject;
pub use reference::ReferenceSubject;
pub use with_peers::SubjectWithPeers;

use crate::limits::SubjectUsage;
use async_trait::async_trait;
use model::transcript::Move;
use model::view::View;
use model::{ProviderKind, SubjectFile, UserError};

#[async_trait]
pub trait Subject: Send {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault>;

    /// What it has used since the trial began. A subject without a model uses nothing that is limited here.
    fn usage(&self) -> SubjectUsage {
        SubjectUsage::default()
    }
}

/// A kind of subject that this version cannot run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("subject \"{subject}\" cannot run: {why}")]
pub struct SubjectUnavailable {
    pub subject: String,
    pub why: String,
    /// Empty where nothing is known to help.
    pub remedy: &'static str,
}

impl From<SubjectUnavailable> for UserError {
    fn from(error: SubjectUnavailable) -> Self {
        UserError::new(error.to_string(), error.remedy)
    }
}

/// The subjects this version can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnableSubject {
    Reference,
    Gullible,
    Paranoid,
    Echo,
    Baseline,
    /// A program or a service of somebody else's.
    External,
}

/// Whether a subject file can be run at all; asked before anything is planned.
pub fn runnable_subject(subject: &SubjectFile) -> Result<RunnableSubject, SubjectUnavailable> {
    match subject.provider {
        ProviderKind::Reference => Ok(RunnableSubject::Reference),
        ProviderKind::Gullible => Ok(RunnableSubject::Gullible),
        ProviderKind::Paranoid => Ok(RunnableSubject::Paranoid),
        ProviderKind::Echo => Ok(RunnableSubject::Echo),
        ProviderKind::Baseline => Ok(RunnableSubject::Baseline),
        ProviderKind::Process | ProviderKind::Http | ProviderKind::Mcp => Ok(RunnableSubject::External),
        ProviderKind::Anthropic | ProviderKind::OpenAi | ProviderKind::OpenAiCompatible | ProviderKind::Ollama => Err(SubjectUnavailable {
            subject: subject.name.value.clone(),
            why: format!("it uses provider {}, which this version cannot run yet", subject.provider.word()),
            remedy: "",
        }),
    }
}
