//! State of one agent between its moves: the conversation so far and the active plan.

use crate::baseline_index::BaselineIndex;
use crate::hand_over;
use crate::mentions::ParsedMessage;
use crate::plan_runner::PlanRunner;
use model::view::{Observation, View};
use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(crate) struct AgentState {
    /// Number of observations already read.
    read: usize,
    /// Messages of the user or the delegating agent, oldest first.
    pub turns: Vec<ParsedMessage>,
    /// Index of the turn that states the request.
    pub wanted: Option<usize>,
    /// Parameters of the delegation.
    pub given: Map<String, Value>,
    /// Tool that waits for the answer to a question.
    pub pending: Option<usize>,
    /// Current skill of the conversation.
    pub topic: Option<usize>,
    /// Turn at which the topic started.
    pub topic_since: usize,
    /// Questions in a row.
    pub asked: u32,
    pub runner: Option<PlanRunner>,
}

impl AgentState {
    pub(crate) fn observe(&mut self, index: &BaselineIndex, view: &View<'_>) {
        for observation in view.observations.iter().skip(self.read) {
            match observation {
                Observation::User(text) => self.turns.push(ParsedMessage::new(&index.lexicon, text)),
                Observation::HandOver { params, .. } => self.observe_hand_over(index, params),
                Observation::Answer { answer, .. } => {
                    if let Some(runner) = &mut self.runner {
                        runner.record_tool_answer(answer);
                    }
                }
                Observation::Peer { said, .. } => {
                    if let Some(runner) = &mut self.runner {
                        runner.record_agent_answer(said);
                    }
                }
                // Unsolicited messages are not instructions.
                Observation::Message { .. } => {}
            }
        }
        self.read = view.observations.len();
    }

    /// Reads a hand-over like a message: figures first, then the task, which states the request.
    fn observe_hand_over(&mut self, index: &BaselineIndex, params: &Map<String, Value>) {
        self.given = params.clone();
        let is_task = |value: &Value| value.as_str().is_some_and(|text| text.split_whitespace().count() > 3);
        let (tasks, figures): (Map<_, _>, Map<_, _>) = params.clone().into_iter().partition(|(_, value)| is_task(value));
        let figures = hand_over::hand_over_text(&index.lexicon, &figures);
        self.turns.push(ParsedMessage::new(&index.lexicon, &figures));
        let task: Vec<&str> = tasks.values().filter_map(Value::as_str).collect();
        if !task.is_empty() {
            self.turns.push(ParsedMessage::new(&index.lexicon, &task.join(". ")));
        }
    }
}
