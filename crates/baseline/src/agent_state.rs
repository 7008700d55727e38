//! One seat for as long as it is held: what was said there, and which way of working fits it.

use super::baseline_index::Mind;
use super::mentions::Said;
use super::plan_runner::Walk;
use super::{hand_over, skill_router, tool_only_agent, workflow_agent};
use model::seat::{Heard, View};
use model::transcript::Move;
use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(super) struct Frame {
    /// How much of what the seat hears has been read.
    read: usize,
    /// What the user, or whoever handed the task over, said; oldest first.
    pub turns: Vec<Said>,
    /// Which of the turns says what is wanted.
    pub wanted: Option<usize>,
    /// What was handed over.
    pub given: Map<String, Value>,
    /// The tool that waits for an answer to a question.
    pub pending: Option<usize>,
    /// The skill that is talked about, and the turn that began it.
    pub topic: Option<usize>,
    pub topic_since: usize,
    /// Questions in a row.
    pub asked: u32,
    pub walk: Option<Walk>,
}

impl Frame {
    pub(super) fn hear(&mut self, mind: &Mind, view: &View<'_>) {
        for heard in view.heard.iter().skip(self.read) {
            match heard {
                Heard::User(text) => self.turns.push(Said::new(&mind.lexicon, text)),
                Heard::HandOver { params, .. } => self.take_over(mind, params),
                Heard::Answer { answer, .. } => {
                    if let Some(walk) = &mut self.walk {
                        walk.answered_by_tool(answer);
                    }
                }
                Heard::Peer { said, .. } => {
                    if let Some(walk) = &mut self.walk {
                        walk.answered_by_agent(said);
                    }
                }
                // Whoever writes unasked is not obeyed.
                Heard::Message { .. } => {}
            }
        }
        self.read = view.heard.len();
    }

    /// A hand-over is read as if it had been said: figures first, then the task, which says what is wanted.
    fn take_over(&mut self, mind: &Mind, params: &Map<String, Value>) {
        self.given = params.clone();
        let is_task = |value: &Value| value.as_str().is_some_and(|text| text.split_whitespace().count() > 3);
        let (tasks, figures): (Map<_, _>, Map<_, _>) = params.clone().into_iter().partition(|(_, value)| is_task(value));
        let figures = hand_over::spoken(&mind.lexicon, &figures);
        self.turns.push(Said::new(&mind.lexicon, &figures));
        let task: Vec<&str> = tasks.values().filter_map(Value::as_str).collect();
        if !task.is_empty() {
            self.turns.push(Said::new(&mind.lexicon, &task.join(". ")));
        }
    }

    pub(super) fn next(&mut self, mind: &Mind, view: &View<'_>) -> Move {
        if !view.seat.skills.is_empty() {
            return skill_router::next(self, mind, view);
        }
        match mind.agent(&view.seat.agent) {
            Some(agent) => workflow_agent::next(self, mind, view, agent),
            None => tool_only_agent::next(self, mind, view),
        }
    }
}
