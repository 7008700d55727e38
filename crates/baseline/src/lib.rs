//! Embedded default subject: a lexical agent without LLM, API key or network. It is the lower bound that any LLM must beat.
//!
//! It reads tool, agent, skill, output and registry files once ([`BaselineIndex`]) and then only its views. It takes instructions from the
//! user and the delegating agent only; tool answers and messages are data.

#![expect(clippy::wildcard_enum_match_arm, reason = "extractors handle the few kinds they know and ignore all others")]

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
mod mention_value;
mod mentions;
mod outputs;
mod param_slots;
mod plan_runner;
mod plan_task;
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

pub use baseline_index::BaselineIndex;
pub use rank::rank_listings;

use agent_state::AgentState;
use model::transcript::Move;
use model::view::View;
use std::sync::Arc;

/// Baseline agent in one trial.
#[derive(Debug)]
pub struct BaselineAgent {
    index: Arc<BaselineIndex>,
    /// States of the active agents by delegation depth, root first.
    states: Vec<AgentState>,
}

impl BaselineAgent {
    pub fn new(index: Arc<BaselineIndex>) -> Self {
        Self { index, states: vec![] }
    }

    /// Returns the next move of the agent whose turn it is.
    pub fn next_move(&mut self, view: &View<'_>) -> Move {
        let depth = usize::try_from(view.depth).unwrap_or(usize::MAX);
        self.states.truncate(depth.saturating_add(1));
        while self.states.len() <= depth {
            self.states.push(AgentState::default());
        }
        let Some(state) = self.states.last_mut() else { return Move::Stop };
        state.observe(&self.index, view);
        if !view.context.skills.is_empty() {
            return skill_router::next(state, &self.index, view);
        }
        match self.index.agent(&view.context.agent) {
            Some(agent) => workflow_agent::next(state, &self.index, view, agent),
            None => tool_only_agent::next(state, &self.index, view),
        }
    }
}
