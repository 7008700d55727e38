//! Who talks to the subject. A user hears what the subject says to it, and nothing else of the trial.

mod allowed_values;
mod corrections;
mod fixed_turns;
mod llm_persona;
mod phrases;
mod scripted_persona;
mod voice;

pub use fixed_turns::FixedTurns;
pub use llm_persona::{LlmPersona, PersonaModel};
pub use scripted_persona::ScriptedPersona;

use async_trait::async_trait;
use model::suite::UserScript;
use model::transcript::FaultSource;
use model::{Ending, Trial, Workspace};
use std::collections::BTreeSet;

#[async_trait]
pub trait User: Send {
    /// What the user does, having heard this. The first call opens the conversation.
    async fn respond(&mut self, told: UserInput<'_>) -> Result<UserReply, UserFault>;
}

/// What reached the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserInput<'t> {
    /// Nothing yet: the user speaks first.
    Start,
    Said(&'t str),
    Asked(&'t str),
    /// A skill was activated; the user sees that something is being done.
    Activated(&'t str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserReply {
    Says(UserUtterance),
    /// The user has nothing more to say; the conversation is over.
    Leaves,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserUtterance {
    pub text: String,
    /// The facts of the persona that the text tells.
    pub reveals: Vec<RevealedFact>,
    /// The question the user had no answer to, if it had none.
    pub unmatched: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevealedFact {
    pub fact: String,
    /// The fact is told otherwise than before.
    pub corrected: bool,
}

impl UserReply {
    pub fn plain(text: impl Into<String>) -> Self {
        UserReply::Says(UserUtterance { text: text.into(), ..UserUtterance::default() })
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
            UserFault::Simulator(why) => Ending::Aborted { by: FaultSource::Simulator, why },
            UserFault::Provider(why) => Ending::Aborted { by: FaultSource::Provider, why },
            UserFault::Unrecorded(why) => Ending::Aborted { by: FaultSource::Recordings, why },
            UserFault::Unfunded => Ending::Unfunded,
        }
    }
}

/// The user of a case, played without a model.
pub fn scripted_user(workspace: &Workspace, talk: &UserScript, seed: u64) -> Box<dyn User> {
    match talk {
        UserScript::Turns(turns) => Box::new(FixedTurns::new(turns.iter().map(|turn| turn.value.clone()))),
        UserScript::Persona(persona) => Box::new(ScriptedPersona::new(persona, &known_names(workspace), seed)),
    }
}

/// The same; where there is an actor, it plays the personas.
pub fn build_user(workspace: &Workspace, talk: &UserScript, actor: Option<&PersonaModel>, trial: &Trial) -> Box<dyn User> {
    match (talk, actor) {
        (UserScript::Persona(persona), Some(actor)) => {
            Box::new(LlmPersona::new(actor.clone(), persona, known_names(workspace), trial.id.clone(), trial.seed))
        }
        (UserScript::Turns(_), _) | (UserScript::Persona(_), None) => scripted_user(workspace, talk, trial.seed),
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
