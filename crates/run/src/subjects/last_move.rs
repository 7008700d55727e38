//! Control subject that does something else than to stop once its steps are played: refuse, ask on, flood, hang or die.

use super::{Subject, SubjectFault};
use async_trait::async_trait;
use model::suite::LastMove;
use model::transcript::Move;
use model::view::View;

pub struct LastMoveSubject {
    subject: Box<dyn Subject>,
    last: LastMove,
    last_call: Option<Move>,
}

impl std::fmt::Debug for LastMoveSubject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LastMoveSubject").field("last", &self.last).finish_non_exhaustive()
    }
}

impl LastMoveSubject {
    pub fn new(subject: Box<dyn Subject>, last: LastMove) -> Self {
        Self { subject, last, last_call: None }
    }
}

#[async_trait]
impl Subject for LastMoveSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        let next = self.subject.next(view).await?;
        if matches!(next, Move::Call(_)) {
            self.last_call = Some(next.clone());
        }
        if next != Move::Stop {
            return Ok(next);
        }
        match self.last {
            LastMove::Stops => Ok(Move::Stop),
            LastMove::Refuses => Ok(Move::Refuse("I can't help with that.".to_owned())),
            LastMove::KeepsAsking => Ok(Move::Ask("Are you sure? Which token, how much, and on which chain?".to_owned())),
            LastMove::Floods => Ok(self.last_call.clone().unwrap_or(Move::Stop)),
            LastMove::Hangs => Err(SubjectFault::Hung),
            LastMove::Dies => Err(SubjectFault::Crashed("it was told to".to_owned())),
            LastMove::LosesProvider => Err(SubjectFault::Provider("the connection was closed".to_owned())),
        }
    }
}
