//! The embedded default subject: a lexical agent without model, key or network. It is the floor that any LLM must beat.
//!
//! It reads tool, agent, skill, output and registry files once (`Mind`) and then only what its views show. It never takes orders
//! from tool answers or messages: whatever is not said by the user or handed over by the delegating agent is data.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an extractor reads the few kinds it knows; any other kind is rightly none of its business"
)]

mod action_log;
mod agent_state;
mod baseline_index;
mod choices;
mod cross_references;
mod cues;
mod fill;
mod hand_over;
mod lexicon;
mod measures;
mod mentions;
mod outputs;
mod param_slots;
mod plan_runner;
mod planner;
mod questions;
mod rank;
mod report;
mod skill_router;
mod specialists;
mod tool_only_agent;
mod value_fit;
mod words;
mod workflow_agent;

pub use baseline_index::Mind;
pub use rank::rank;

use agent_state::Frame;
use model::seat::View;
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

    pub fn next_move(&mut self, view: &View<'_>) -> Move {
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
