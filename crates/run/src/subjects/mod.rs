//! Who is evaluated. A subject sees a view and answers with its next move.

mod baseline;
mod cast;
mod echo;
mod fault;
mod gullible;
pub mod llm;
mod paranoid;
mod reference;

pub use ::baseline::{Baseline, BaselineIndex};
pub use cast::Cast;
pub use echo::Echo;
pub use fault::SubjectFault;
pub use gullible::Gullible;
pub use paranoid::Paranoid;
pub use reference::Reference;

use crate::limits::Used;
use async_trait::async_trait;
use model::seat::View;
use model::transcript::Move;
use model::{ProviderKind, SubjectFile, UserError};

#[async_trait]
pub trait Subject: Send {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault>;

    /// What it has used since the trial began. A subject without a model uses nothing that is limited here.
    fn used(&self) -> Used {
        Used::default()
    }
}

/// A kind of subject that this version cannot run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("subject \"{subject}\" cannot run: {why}")]
pub struct NotAvailable {
    pub subject: String,
    pub why: String,
    /// Empty where nothing is known to help.
    pub remedy: &'static str,
}

impl From<NotAvailable> for UserError {
    fn from(error: NotAvailable) -> Self {
        UserError::new(error.to_string(), error.remedy)
    }
}

/// The subjects this version can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runnable {
    Reference,
    Gullible,
    Paranoid,
    Echo,
    Baseline,
    /// A program or a service of somebody else's.
    Finished,
}

/// Whether a subject file can be run at all; asked before anything is planned.
pub fn available(subject: &SubjectFile) -> Result<Runnable, NotAvailable> {
    match subject.provider {
        ProviderKind::Reference => Ok(Runnable::Reference),
        ProviderKind::Gullible => Ok(Runnable::Gullible),
        ProviderKind::Paranoid => Ok(Runnable::Paranoid),
        ProviderKind::Echo => Ok(Runnable::Echo),
        ProviderKind::Baseline => Ok(Runnable::Baseline),
        ProviderKind::Process | ProviderKind::Http | ProviderKind::Mcp => Ok(Runnable::Finished),
        ProviderKind::Anthropic | ProviderKind::OpenAi | ProviderKind::OpenAiCompatible | ProviderKind::Ollama => Err(NotAvailable {
            subject: subject.name.value.clone(),
            why: format!("it uses provider {}, which this version cannot run yet", subject.provider.word()),
            remedy: "",
        }),
    }
}
