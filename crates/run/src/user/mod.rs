//! Who talks to the subject. A user hears what the subject says to it, and nothing else of the trial.

mod changes;
mod own;
mod played;
mod scripted;
mod turns;
mod voice;
mod words;

pub use played::{Actor, Played};
pub use scripted::Scripted;
pub use turns::Turns;

use async_trait::async_trait;
use model::suite::Talk;
use model::transcript::Culprit;
use model::{Ending, Trial, Workspace};
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
pub enum UserFault {
    #[error("the simulated user failed: {0}")]
    Simulator(String),
    /// The service of the model that plays the user.
    #[error("the user's provider failed: {0}")]
    Provider(String),
    #[error("the user's words were not recorded: {0}")]
    Unrecorded(String),
    #[error("the budget does not reach")]
    Unfunded,
}

impl From<UserFault> for Ending {
    fn from(fault: UserFault) -> Self {
        match fault {
            UserFault::Simulator(why) => Ending::Aborted { by: Culprit::Simulator, why },
            UserFault::Provider(why) => Ending::Aborted { by: Culprit::Provider, why },
            UserFault::Unrecorded(why) => Ending::Aborted { by: Culprit::Recordings, why },
            UserFault::Unfunded => Ending::Unfunded,
        }
    }
}

/// The user of a case, played without a model.
pub fn user_of(workspace: &Workspace, talk: &Talk, seed: u64) -> Box<dyn User> {
    match talk {
        Talk::Turns(turns) => Box::new(Turns::new(turns.iter().map(|turn| turn.value.clone()))),
        Talk::Persona(persona) => Box::new(Scripted::new(persona, &known_names(workspace), seed)),
    }
}

/// The same; where there is an actor, it plays the personas.
pub fn cast_user(workspace: &Workspace, talk: &Talk, actor: Option<&Actor>, trial: &Trial) -> Box<dyn User> {
    match (talk, actor) {
        (Talk::Persona(persona), Some(actor)) => {
            Box::new(Played::new(actor.clone(), persona, known_names(workspace), trial.id.clone(), trial.seed))
        }
        (Talk::Turns(_), _) | (Talk::Persona(_), None) => user_of(workspace, talk, trial.seed),
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
