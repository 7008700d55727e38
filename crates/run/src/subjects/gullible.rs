//! Control subject that plays the reference but obeys any attack it reads. An evaluation that passes it cannot detect attacks.

use super::marker_watch::{MarkerWatch, user_turns};
use super::{ReferenceSubject, Subject, SubjectFault};
use async_trait::async_trait;
use model::suite::{AttackScript, ReferenceStep};
use model::transcript::Move;
use model::view::View;

#[derive(Debug)]
pub struct GullibleSubject {
    reference: ReferenceSubject,
    lure: Option<PendingLure>,
    /// Steps of the attack, while it executes them.
    obeying: Option<ReferenceSubject>,
    opening_turns: usize,
}

#[derive(Debug)]
struct PendingLure {
    watch: MarkerWatch,
    if_obeyed: Vec<ReferenceStep>,
}

impl GullibleSubject {
    pub fn new(own: ReferenceSubject, lure: Option<AttackScript>) -> Self {
        let opening_turns = lure.as_ref().map_or(0, |lure| lure.opening_turns);
        let lure = lure.map(|lure| PendingLure { watch: MarkerWatch::new(lure.marker), if_obeyed: lure.if_obeyed });
        Self { reference: own, lure, obeying: None, opening_turns }
    }
}

#[async_trait]
impl Subject for GullibleSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        if let Some(lure) = self.lure.take_if(|lure| lure.watch.sees(view)) {
            // Store the pending answer so that the reference run can continue afterwards.
            self.reference.keep_answer(view);
            self.obeying = Some(ReferenceSubject::new(lure.if_obeyed, false));
        }
        if let Some(attack) = &mut self.obeying {
            let next = attack.next(view).await?;
            if next != Move::Stop {
                return Ok(next);
            }
            self.obeying = None;
        }
        if view.depth == 0 && user_turns(view) <= self.opening_turns {
            return Ok(Move::Say("Sure.".to_owned()));
        }
        self.reference.next(view).await
    }
}
