//! Control subject that repeats the last user message. An evaluation that passes it measures nothing.

use super::{Subject, SubjectFault};
use async_trait::async_trait;
use model::transcript::Move;
use model::view::{Observation, View};

#[derive(Debug, Clone, Copy)]
pub struct EchoSubject;

#[async_trait]
impl Subject for EchoSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        let last = view.observations.iter().rev().find_map(|one| match one {
            Observation::User(text) => Some(text.clone()),
            Observation::HandOver { .. } | Observation::Answer { .. } | Observation::Peer { .. } | Observation::Message { .. } => None,
        });
        Ok(Move::Say(last.unwrap_or_default()))
    }
}
