//! Who talks to the subject. A user hears what the subject says to it, and nothing else of the trial.

mod dice;
mod own;
mod scripted;
mod turns;
mod voice;
mod words;

pub use scripted::Scripted;
pub use turns::Turns;

use async_trait::async_trait;
use model::Workspace;
use model::suite::Talk;
use std::collections::BTreeSet;

#[async_trait]
pub trait User: Send {
    /// What the user does, having heard this. The first call opens the conversation.
    async fn hear(&mut self, told: Told<'_>) -> Result<Reply, UserFault>;
}

/// What reached the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told<'t> {
    /// Nothing yet: the user speaks first.
    Nothing,
    Said(&'t str),
    Asked(&'t str),
    /// A skill was activated; the user sees that something is being done.
    Activated(&'t str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Says(Spoken),
    /// The user has nothing more to say; the conversation is over.
    Leaves,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spoken {
    pub text: String,
    /// The facts of the persona that the text tells.
    pub reveals: Vec<Revealed>,
    /// The question the user had no answer to, if it had none.
    pub unmatched: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revealed {
    pub fact: String,
    /// The fact is told otherwise than before.
    pub corrected: bool,
}

impl Reply {
    pub fn plain(text: impl Into<String>) -> Self {
        Reply::Says(Spoken { text: text.into(), ..Spoken::default() })
    }
}

/// The simulated user failed. Never the subject's fault: the trial is no evidence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UserFault(pub String);

/// The user of a case, played without a model.
pub fn user_of(workspace: &Workspace, talk: &Talk, seed: u64) -> Box<dyn User> {
    match talk {
        Talk::Turns(turns) => Box::new(Turns::new(turns.iter().map(|turn| turn.value.clone()))),
        Talk::Persona(persona) => Box::new(Scripted::new(persona, &known_names(workspace), seed)),
    }
}

/// Names that are values wherever they stand: those of tokens and chains.
fn known_names(workspace: &Workspace) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for chain in &workspace.chains {
        let tokens = chain.tokens.iter().map(|token| token.symbol.value.as_str());
        let names = tokens.chain([chain.name.as_str(), chain.native.as_str()]).chain(chain.aliases.iter().map(String::as_str));
        known.extend(names.map(str::to_lowercase));
    }
    known
}
