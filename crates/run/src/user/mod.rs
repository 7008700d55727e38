//! Who talks to the subject. A user hears what the subject says to it, and nothing else of the trial.

mod turns;

pub use turns::Turns;

use async_trait::async_trait;
use model::suite::Talk;

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
    Says(String),
    /// The user has nothing more to say; the conversation is over.
    Leaves,
}

/// The simulated user failed. Never the subject's fault: the trial is no evidence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UserFault(pub String);

/// The user of a case.
pub fn user_of(talk: &Talk, _seed: u64) -> Result<Box<dyn User>, UserFault> {
    match talk {
        Talk::Turns(turns) => Ok(Box::new(Turns::new(turns.iter().map(|turn| turn.value.clone())))),
        Talk::Persona(_) => Err(UserFault("this version plays written turns only, not personas".into())),
    }
}
