//! Agent that is a server of the OpenAI-compatible chat API: it gets the conversation and our tools, and answers with text and tool calls.
//! Unlike a model it gets no prompt of ours, has no price, and its faults are its own.

use super::agent_timer::AgentTimer;
use crate::limits::SubjectUsage;
use crate::subjects::llm::{LlmModel, LlmSubject};
use crate::subjects::{Subject, SubjectFault};
use async_trait::async_trait;
use model::ContentHash;
use model::transcript::Move;
use model::view::View;
use std::sync::Arc;

/// Chat agent in one trial.
#[derive(Debug)]
pub(crate) struct ChatAgent {
    inner: LlmSubject,
    timer: AgentTimer,
}

impl ChatAgent {
    pub(crate) fn new(model: Arc<LlmModel>, trial: ContentHash, seed: u64, timer: AgentTimer) -> Self {
        Self { inner: LlmSubject::new(model, trial, seed), timer }
    }
}

#[async_trait]
impl Subject for ChatAgent {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        self.timer.limit(self.inner.next(view)).await
    }

    fn usage(&self) -> SubjectUsage {
        // Neither its tokens nor its time are reproducible or paid by us.
        SubjectUsage::default()
    }
}
