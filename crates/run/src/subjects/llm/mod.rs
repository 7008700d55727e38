//! A model in our own tool loop. It is shown the view of its seat and nothing else of the trial.

mod conversation;
mod prune;
mod tools;

pub(crate) use tools::MAX_EXTRA_TOOLS;

use super::{Subject, SubjectFault};
use crate::ledger::{CallId, CallRole};
use crate::limits::SubjectUsage;
use crate::providers::{FaultKind, ModelCall, ModelReply, ModelRequest, ProviderFault, SharedProvider, StopReason, ToolChoice};
use async_trait::async_trait;
use conversation::LlmConversation;
use model::transcript::{LimitKind, Move};
use model::view::{AgentContext, View};
use model::{ContentHash, SubjectFile, ToolsShown};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A model with its settings, shared by all trials of its subject.
#[derive(Debug)]
pub struct LlmModel {
    provider: SharedProvider,
    name: String,
    temperature: Option<f64>,
    output_tokens: u64,
    prompt: Option<String>,
    extra: Map<String, Value>,
    shown: ToolsShown,
}

impl LlmModel {
    pub fn new(file: &SubjectFile, provider: SharedProvider) -> Arc<Self> {
        Arc::new(Self {
            provider,
            name: file.model.clone().unwrap_or_default(),
            temperature: file.temperature,
            output_tokens: file.limits.output_tokens,
            prompt: file.prompt.clone(),
            extra: file.extra.clone(),
            shown: file.tools,
        })
    }
}

/// A model playing one trial.
#[derive(Debug)]
pub struct LlmSubject {
    model: Arc<LlmModel>,
    trial: ContentHash,
    seed: u64,
    calls_made: u32,
    used: SubjectUsage,
    /// By depth: whoever delegates waits while the agent below talks.
    conversations: BTreeMap<u32, LlmConversation>,
    malformed_once: bool,
}

/// A vendor that pauses more often than this in one move does not come back.
const MAX_PAUSES: u32 = 8;

#[async_trait]
impl Subject for LlmSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        self.enter_conversation(view);
        let mut pauses = 0;
        loop {
            let request = match self.next_step(view)? {
                LlmStep::Move(next) => return Ok(next),
                LlmStep::Request(request) => request,
            };
            let reply = self.ask(request).await?;
            match &reply.stop {
                StopReason::MaxTokens => return Err(SubjectFault::OverLimit(LimitKind::Tokens)),
                StopReason::Refused => return Ok(Move::Refuse(reply.text())),
                StopReason::Paused if pauses < MAX_PAUSES => pauses += 1,
                StopReason::Paused => return Err(SubjectFault::Provider("the vendor paused again and again".into())),
                StopReason::End | StopReason::Calls | StopReason::Other(_) => {}
            }
            if let Some(next) = self.apply_reply(view, &reply)? {
                return Ok(next);
            }
        }
    }

    fn usage(&self) -> SubjectUsage {
        self.used
    }
}

enum LlmStep {
    Move(Move),
    Request(ModelRequest),
}

impl LlmSubject {
    pub fn new(model: Arc<LlmModel>, trial: ContentHash, seed: u64) -> Self {
        Self { model, trial, seed, calls_made: 0, used: SubjectUsage::default(), conversations: BTreeMap::new(), malformed_once: false }
    }

    /// Finds the conversation of this seat, or opens it; conversations below are over.
    fn enter_conversation(&mut self, view: &View<'_>) {
        self.conversations.retain(|depth, _| *depth <= view.depth);
        if !self.conversations.get(&view.depth).is_some_and(|talk| talk.continues(view.context, view.observations)) {
            self.conversations.insert(view.depth, LlmConversation::new(view.context));
        }
    }

    fn conversation(&mut self, view: &View<'_>) -> &mut LlmConversation {
        self.conversations.entry(view.depth).or_insert_with(|| LlmConversation::new(view.context))
    }

    fn next_step(&mut self, view: &View<'_>) -> Result<LlmStep, SubjectFault> {
        let left = self.model.output_tokens.saturating_sub(self.used.output_tokens);
        let model = self.model.clone();
        let talk = self.conversation(view);
        talk.observe(view.observations);
        if let Some(next) = talk.next_planned() {
            return Ok(LlmStep::Move(next));
        }
        if left == 0 {
            return Err(SubjectFault::OverLimit(LimitKind::Tokens));
        }
        talk.flush_observations();
        Ok(LlmStep::Request(ModelRequest {
            model: model.name.clone(),
            system: system_prompt(model.prompt.as_deref(), view.context),
            messages: talk.messages.clone(),
            tools: tools::listed_tools(view.context, view.depth, model.shown, &talk.query, &talk.used),
            choice: ToolChoice::Free,
            temperature: model.temperature,
            max_output: left,
            extra: model.extra.clone(),
        }))
    }

    async fn ask(&mut self, request: ModelRequest) -> Result<ModelReply, SubjectFault> {
        let call = CallId { trial: self.trial.clone(), role: CallRole::Subject, n: self.calls_made };
        self.calls_made += 1;
        let reply = self.model.provider.ask(&ModelCall::new(call, self.seed, request)).await.map_err(subject_fault)?;
        // A server that does not count is held to about four bytes a token.
        let output = reply.usage.map_or_else(|| reply.to_json().len() as u64 / 4, |usage| usage.output);
        self.used.output_tokens = self.used.output_tokens.saturating_add(output);
        self.used.latency_ms = self.used.latency_ms.saturating_add(reply.latency_ms);
        Ok(reply)
    }

    /// The move a reply makes, or nothing where the model must be asked again.
    fn apply_reply(&mut self, view: &View<'_>, reply: &ModelReply) -> Result<Option<Move>, SubjectFault> {
        let talk = self.conversation(view);
        let unclear = talk.apply_reply(reply);
        let next = talk.next_planned();
        if let Some(first) = unclear.first() {
            // The model is told once what was wrong, as any agent loop would; a second time is its own failure.
            if self.malformed_once {
                return Err(SubjectFault::Malformed(first.clone()));
            }
            self.malformed_once = true;
            return Ok(next);
        }
        match (next, reply.text(), &reply.stop) {
            (Some(next), _, _) => Ok(Some(next)),
            (None, _, StopReason::Paused) => Ok(None),
            (None, text, _) if !text.trim().is_empty() => Ok(Some(Move::Say(text))),
            (None, _, StopReason::Other(why)) => Err(SubjectFault::Provider(format!("the model stopped without a word: {why}"))),
            (None, _, _) => Err(SubjectFault::Malformed("the reply says nothing and calls nothing".into())),
        }
    }
}

/// What every request from a seat begins with, in bytes: the tools that are shown and what the agent file says.
pub fn fixed_prompt_bytes(file: &SubjectFile, seat: &AgentContext, depth: u32) -> u64 {
    let shown = tools::listed_tools(seat, depth, file.tools, "", &BTreeSet::new());
    let tools: usize = shown.iter().map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len()).sum();
    (system_prompt(file.prompt.as_deref(), seat).len() + tools) as u64
}

/// What the agent file says, and the shape its answer must have. Where there is no agent file, as little as possible.
fn system_prompt(prompt: Option<&str>, seat: &AgentContext) -> String {
    let own = match seat.prompt.trim() {
        "" => "You act for your user through the tools you are given. Where none of them fits, say so.",
        prompt => prompt,
    };
    let shape = seat
        .output
        .as_ref()
        .map(|schema| format!("Your final answer is one JSON object that fits this schema, with nothing before or after it:\n{schema}"));
    prompt.into_iter().map(str::to_owned).chain([own.to_owned()]).chain(shape).collect::<Vec<_>>().join("\n\n")
}

fn subject_fault(fault: ProviderFault) -> SubjectFault {
    match fault.kind {
        FaultKind::Unfunded => SubjectFault::Unfunded,
        FaultKind::NotRecorded => SubjectFault::Unrecorded(fault.to_string()),
        FaultKind::Harness | FaultKind::Unfit => SubjectFault::Harness(fault.to_string()),
        FaultKind::RateLimited
        | FaultKind::Overloaded
        | FaultKind::Server
        | FaultKind::Unreachable
        | FaultKind::TooSlow
        | FaultKind::Dropped
        | FaultKind::Garbled
        | FaultKind::TooLarge
        | FaultKind::Rejected
        | FaultKind::Redirected => SubjectFault::Provider(fault.to_string()),
    }
}

#[cfg(test)]
mod tests;
