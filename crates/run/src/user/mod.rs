//! Simulated users. A user sees only the messages that the subject sends to it.

mod allowed_values;
mod corrections;
mod fixed_turns;
mod llm_persona;
mod phrases;
mod scripted_persona;
mod unanswered;
mod voice;

pub use fixed_turns::FixedTurns;
pub use llm_persona::{LlmPersona, PersonaModel};
pub use scripted_persona::ScriptedPersona;

use async_trait::async_trait;
use model::suite::{Case, ReferenceAction, UserScript};
use model::transcript::FaultSource;
use model::{Ending, Trial, Workspace};
use std::collections::BTreeSet;

#[async_trait]
pub trait User: Send {
    /// Returns the user's reply. The first call gets [`UserInput::Start`] and opens the conversation.
    async fn respond(&mut self, input: UserInput<'_>) -> Result<UserReply, UserFault>;
}

/// Input that a user replies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserInput<'t> {
    /// Start of the conversation: the user speaks first.
    Start,
    Said(&'t str),
    Asked(&'t str),
    /// Skill that the subject activated.
    Activated(&'t str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserReply {
    Says(UserUtterance),
    /// Ends the conversation.
    Leaves,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserUtterance {
    pub text: String,
    /// Facts of the persona that the text reveals.
    pub reveals: Vec<RevealedFact>,
    /// Question that the user could not answer.
    pub unmatched: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevealedFact {
    pub fact: String,
    /// Set if the value differs from the one revealed before.
    pub corrected: bool,
}

impl UserReply {
    pub fn plain(text: impl Into<String>) -> Self {
        UserReply::Says(UserUtterance { text: text.into(), ..UserUtterance::default() })
    }
}

/// Failure of the simulated user. The trial is aborted and not scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserFault {
    #[error("the simulated user failed: {0}")]
    Simulator(String),
    /// Failure of the LLM provider that plays the user.
    #[error("the provider of the simulated user failed: {0}")]
    Provider(String),
    #[error("the replies of the simulated user are not recorded: {0}")]
    Unrecorded(String),
    #[error("the budget is exhausted")]
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

/// Builds the user of a case without an LLM.
pub fn scripted_user(workspace: &Workspace, script: &UserScript, seed: u64) -> Box<dyn User> {
    match script {
        UserScript::Turns(turns) => Box::new(FixedTurns::new(turns.iter().map(|turn| turn.value.clone()))),
        UserScript::Persona(persona) => Box::new(ScriptedPersona::new(persona, &known_names(workspace), seed)),
    }
}

/// Builds the user of a case. If `persona_model` is given, it plays personas; fixed turns stay as they are.
pub fn build_user(workspace: &Workspace, case: &Case, persona_model: Option<&PersonaModel>, trial: &Trial) -> Box<dyn User> {
    let script = &case.brief.user_script;
    match (script, persona_model) {
        (UserScript::Persona(persona), Some(model)) => {
            let user = LlmPersona::new(model.clone(), persona, known_names(workspace), trial.id.clone(), trial.seed);
            Box::new(user.with_reference(reference_messages(case)))
        }
        (UserScript::Persona(persona), None) => {
            Box::new(ScriptedPersona::new(persona, &known_names(workspace), trial.seed).with_reference(reference_messages(case)))
        }
        (UserScript::Turns(_), _) => scripted_user(workspace, script, trial.seed),
    }
}

/// Returns the texts that the written reference of a case sends to the user.
fn reference_messages(case: &Case) -> BTreeSet<String> {
    let messages = case.reference.iter().filter_map(|step| match &step.action {
        ReferenceAction::Ask(text) | ReferenceAction::Say(text) => Some(text.trim().to_owned()),
        ReferenceAction::Call { .. } | ReferenceAction::Delegate { .. } | ReferenceAction::Activate { .. } | ReferenceAction::Report(_) => {
            None
        }
    });
    messages.collect()
}

/// Returns the lower-case names of tokens and chains, which always count as values.
fn known_names(workspace: &Workspace) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for chain in &workspace.chains {
        let tokens = chain.tokens.iter().map(|token| token.symbol.value.as_str());
        let names = tokens.chain([chain.name.as_str(), chain.native.as_str()]).chain(chain.aliases.iter().map(String::as_str));
        known.extend(names.map(str::to_lowercase));
    }
    known
}
