//! Who is evaluated. A subject sees a view and answers with its next move.

mod echo;
mod reference;

pub use echo::Echo;
pub use reference::Reference;

use crate::seat::View;
use async_trait::async_trait;
use model::suite::Surface;
use model::transcript::Move;
use model::{Case, ProviderKind, SubjectFile};

#[async_trait]
pub trait Subject: Send {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault>;
}

/// Why no move came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubjectFault {
    /// The subject's own doing; the trial is scored.
    #[error("the subject crashed: {0}")]
    Crashed(String),
    /// The model's service failed; the trial is no evidence.
    #[error("the provider failed: {0}")]
    Provider(String),
}

/// A kind of subject that this version cannot run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("subject \"{subject}\" uses provider {provider}, which this version cannot run yet")]
pub struct NotAvailable {
    pub subject: String,
    pub provider: &'static str,
}

/// Whether a subject file can be run at all; asked before anything is planned.
pub fn available(subject: &SubjectFile) -> Result<(), NotAvailable> {
    match subject.provider {
        ProviderKind::Reference | ProviderKind::Echo => Ok(()),
        ProviderKind::Anthropic | ProviderKind::OpenAi | ProviderKind::OpenAiCompatible | ProviderKind::Ollama | ProviderKind::Baseline => {
            Err(NotAvailable { subject: subject.name.value.clone(), provider: subject.provider.word() })
        }
    }
}

/// A subject for one trial. Only the scripted reference is given its script; nothing else ever sees more than its views.
pub fn seat_subject(subject: &SubjectFile, case: &Case) -> Result<Box<dyn Subject>, NotAvailable> {
    available(subject)?;
    Ok(match subject.provider {
        ProviderKind::Reference => {
            let at_once = matches!(case.brief.surface, Surface::Profile(_));
            Box::new(Reference::new(case.reference.clone(), at_once))
        }
        ProviderKind::Echo
        | ProviderKind::Anthropic
        | ProviderKind::OpenAi
        | ProviderKind::OpenAiCompatible
        | ProviderKind::Ollama
        | ProviderKind::Baseline => Box::new(Echo),
    })
}
