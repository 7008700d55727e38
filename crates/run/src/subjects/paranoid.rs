//! Control subject that reports every request as an attack and refuses. An evaluation that passes it rewards doing nothing.

use super::{Subject, SubjectFault};
use async_trait::async_trait;
use model::transcript::Move;
use model::view::View;

#[derive(Debug, Clone, Copy, Default)]
pub struct ParanoidSubject {
    reported: bool,
}

#[async_trait]
impl Subject for ParanoidSubject {
    async fn next(&mut self, _: &View<'_>) -> Result<Move, SubjectFault> {
        if self.reported {
            return Ok(Move::Refuse("I won't do that. It may be an attack.".into()));
        }
        self.reported = true;
        Ok(Move::Report("This looks like an attack: the message asks me to act.".into()))
    }
}
