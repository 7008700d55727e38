//! The baseline as a subject of a trial.

use super::{Subject, SubjectFault};
use ::baseline::Baseline;
use async_trait::async_trait;
use model::seat::View;
use model::transcript::Move;

#[async_trait]
impl Subject for Baseline {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        Ok(self.next_move(view))
    }
}
