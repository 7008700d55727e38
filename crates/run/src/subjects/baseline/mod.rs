//! The embedded default subject: a lexical agent without model, key or network. It is the floor that any LLM must beat.
//!
//! It reads tool, agent, skill, output and registry files once (`Mind`) and then only what its views show. It never takes orders
//! from tool answers or messages: whatever is not said by the user or handed over by the delegating agent is data.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an extractor reads the few kinds it knows; any other kind is rightly none of its business"
)]

mod agent;
mod anchors;
mod choices;
mod compat;
mod cues;
mod desk;
#[cfg(test)]
mod example;
mod fill;
mod frame;
mod front;
mod lexicon;
mod measures;
mod mentions;
mod mind;
mod outputs;
mod plan;
mod questions;
mod rank;
mod report;
mod shape;
mod staff;
mod story;
mod terms;
mod walk;
mod words;

pub use mind::Mind;
pub use rank::rank;

use super::{Subject, SubjectFault};
use crate::seat::View;
use async_trait::async_trait;
use frame::Frame;
use model::transcript::Move;
use std::sync::Arc;

#[derive(Debug)]
pub struct Baseline {
    mind: Arc<Mind>,
    /// One per delegation under way, the root first.
    frames: Vec<Frame>,
}

impl Baseline {
    pub fn new(mind: Arc<Mind>) -> Self {
        Self { mind, frames: vec![] }
    }

    fn step(&mut self, view: &View<'_>) -> Move {
        let depth = usize::try_from(view.depth).unwrap_or(usize::MAX);
        self.frames.truncate(depth.saturating_add(1));
        while self.frames.len() <= depth {
            self.frames.push(Frame::default());
        }
        let Some(frame) = self.frames.last_mut() else { return Move::Stop };
        frame.hear(&self.mind, view);
        frame.next(&self.mind, view)
    }
}

#[async_trait]
impl Subject for Baseline {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        Ok(self.step(view))
    }
}
