//! Implements [`Subject`] for the baseline agent.

use super::{Subject, SubjectFault};
use ::baseline::BaselineAgent;
use async_trait::async_trait;
use model::transcript::Move;
use model::view::View;

#[async_trait]
impl Subject for BaselineAgent {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        Ok(self.next_move(view))
    }
}
