//! Repeats what it was told and does nothing. An evaluation that passes it measures nothing.

use super::{Subject, SubjectFault};
use async_trait::async_trait;
use model::seat::{Heard, View};
use model::transcript::Move;

#[derive(Debug, Clone, Copy)]
pub struct Echo;

#[async_trait]
impl Subject for Echo {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        let last = view.heard.iter().rev().find_map(|heard| match heard {
            Heard::User(text) => Some(text.clone()),
            Heard::HandOver { .. } | Heard::Answer { .. } | Heard::Peer { .. } | Heard::Message { .. } => None,
        });
        Ok(Move::Say(last.unwrap_or_default()))
    }
}
