//! LLM subject: runs a model in a tool loop. The model sees only the view of the agent it plays.

mod conversation;
mod prune;
mod tools;

pub(crate) use tools::MAX_EXTRA_TOOLS;

use super::{Subject, SubjectFault};
use crate::ledger::{CallId, CallRole};
use crate::limits::{ReplyTotals, SubjectUsage};
use crate::providers::{
    FaultKind, ModelCall, ModelReply, ModelRequest, ProviderFault, SharedProvider, StopReason, ToolChoice, cost as reply_cost,
};
use async_trait::async_trait;
use conversation::LlmConversation;
use model::transcript::{LimitKind, Move};
use model::view::{AgentContext, View};
use model::{ContentHash, ModelPrice, SubjectFile, ToolsShown};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Model and settings, shared by all trials of a subject.
#[derive(Debug)]
pub struct LlmModel {
    provider: SharedProvider,
    name: String,
    temperature: Option<f64>,
    output_tokens: u64,
    prompt: Option<String>,
    extra: Map<String, Value>,
    shown: ToolsShown,
    price: Option<ModelPrice>,
    role: ModelRole,
}

/// Role of the server behind a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelRole {
    /// Model that we prompt; faults of its server are not its own.
    Model,
    /// Agent with a prompt of its own. The server is the subject.
    Agent,
}

/// Name of the model in requests to an agent whose file names none. The chat API requires one.
const AGENT_MODEL: &str = "agent";

impl LlmModel {
    pub fn new(file: &SubjectFile, provider: SharedProvider) -> Arc<Self> {
        Arc::new(Self::with_role(file, provider, ModelRole::Model))
    }

    /// Returns a server that is the agent itself.
    pub(crate) fn agent_server(file: &SubjectFile, provider: SharedProvider) -> Arc<Self> {
        let model = Self::with_role(file, provider, ModelRole::Agent);
        let name = if model.name.is_empty() { AGENT_MODEL.to_owned() } else { model.name.clone() };
        Arc::new(Self { name, ..model })
    }

    fn with_role(file: &SubjectFile, provider: SharedProvider, role: ModelRole) -> Self {
        Self {
            role,
            provider,
            name: file.model.clone().unwrap_or_default(),
            temperature: file.temperature,
            output_tokens: file.limits.output_tokens,
            prompt: file.prompt.clone(),
            extra: file.extra.clone(),
            shown: file.tools,
            price: file.price.clone(),
        }
    }
}

/// LLM subject in one trial.
#[derive(Debug)]
pub struct LlmSubject {
    model: Arc<LlmModel>,
    trial: ContentHash,
    seed: u64,
    calls_made: u32,
    used: SubjectUsage,
    totals: Option<ReplyTotals>,
    /// Conversations by delegation depth; a delegating agent's conversation waits.
    conversations: BTreeMap<u32, LlmConversation>,
    malformed_once: bool,
}

/// Maximum pauses of a vendor in one move.
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
                StopReason::Paused => return Err(SubjectFault::Provider("the vendor paused the reply too many times".into())),
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

    fn reply_totals(&self) -> Option<ReplyTotals> {
        self.totals
    }
}

enum LlmStep {
    Move(Move),
    Request(ModelRequest),
}

impl LlmSubject {
    pub fn new(model: Arc<LlmModel>, trial: ContentHash, seed: u64) -> Self {
        Self {
            model,
            trial,
            seed,
            calls_made: 0,
            used: SubjectUsage::default(),
            totals: None,
            conversations: BTreeMap::new(),
            malformed_once: false,
        }
    }

    /// Selects or opens the conversation of the active agent, and drops deeper conversations.
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
            system: match model.role {
                ModelRole::Model => system_prompt(model.prompt.as_deref(), view.context),
                ModelRole::Agent => model.prompt.clone().unwrap_or_default(),
            },
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
        let has_answered = self.calls_made > 1;
        let reply = self.model.provider.ask(&ModelCall::new(call, self.seed, request)).await;
        let reply = reply.map_err(|fault| match self.model.role {
            ModelRole::Model => subject_fault(fault),
            ModelRole::Agent => agent_fault(fault, has_answered),
        })?;
        if self.model.role == ModelRole::Agent {
            return Ok(reply);
        }
        // Without usage from the server, estimate four bytes per token.
        let output = reply.usage.map_or_else(|| reply.to_json().len() as u64 / 4, |usage| usage.output);
        self.used.output_tokens = self.used.output_tokens.saturating_add(output);
        self.used.latency_ms = self.used.latency_ms.saturating_add(reply.latency_ms);
        let totals = ReplyTotals {
            // A reply that was stored without its time has 0.
            latency_ms: Some(reply.latency_ms).filter(|ms| *ms > 0),
            cost: self.model.price.as_ref().zip(reply.usage.as_ref()).map(|(price, usage)| reply_cost(price, usage)),
        };
        self.totals = Some(self.totals.map_or(totals, |before| before.and(totals)));
        Ok(reply)
    }

    /// Returns the move of a reply, or `None` if the model must be asked again.
    fn apply_reply(&mut self, view: &View<'_>, reply: &ModelReply) -> Result<Option<Move>, SubjectFault> {
        let talk = self.conversation(view);
        let unclear = talk.apply_reply(reply);
        let next = talk.next_planned();
        if let Some(first) = unclear.first() {
            // Like common agent loops, report malformed arguments to the model once. A second time is a fault of the subject.
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
            (None, _, StopReason::Other(why)) => Err(SubjectFault::Provider(format!("the model stopped without output: {why}"))),
            (None, _, _) => Err(SubjectFault::Malformed("the reply has no text and no tool call".into())),
        }
    }
}

/// Returns the size in bytes of the fixed part of each request: system prompt and tool list.
pub fn fixed_prompt_bytes(file: &SubjectFile, seat: &AgentContext, depth: u32) -> u64 {
    let shown = tools::listed_tools(seat, depth, file.tools, "", &BTreeSet::new());
    let tools: usize = shown.iter().map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len()).sum();
    (system_prompt(file.prompt.as_deref(), seat).len() + tools) as u64
}

/// Builds the system prompt: subject prompt, agent prompt (or a minimal default) and output schema.
fn system_prompt(prompt: Option<&str>, seat: &AgentContext) -> String {
    let own = match seat.prompt.trim() {
        "" => "You are an assistant that acts for the user with the tools provided. If no tool fits the request, say so.",
        prompt => prompt,
    };
    let shape = seat.output.as_ref().map(|schema| {
        format!("Your final answer must be a single JSON object that matches this schema, with no text before or after it:\n{schema}")
    });
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

/// Returns the fault of a server that is the agent, as for other services: only one that was never reached is not evidence.
fn agent_fault(fault: ProviderFault, has_answered: bool) -> SubjectFault {
    let why = fault.why;
    match fault.kind {
        FaultKind::Unreachable if !has_answered => SubjectFault::Provider(format!("cannot connect to the agent: {why}")),
        FaultKind::Unreachable | FaultKind::Dropped => SubjectFault::Crashed(format!("the connection failed: {why}")),
        FaultKind::RateLimited | FaultKind::Overloaded | FaultKind::Server => {
            SubjectFault::Crashed(format!("the agent's server failed: {why}"))
        }
        FaultKind::TooSlow => SubjectFault::Hung,
        FaultKind::TooLarge => SubjectFault::OverLimit(LimitKind::Output),
        FaultKind::Garbled | FaultKind::Rejected | FaultKind::Redirected => {
            SubjectFault::Malformed(format!("the agent's server did not answer as the chat API does: {why}"))
        }
        FaultKind::Unfunded => SubjectFault::Unfunded,
        FaultKind::NotRecorded => SubjectFault::Unrecorded(why),
        FaultKind::Harness | FaultKind::Unfit => SubjectFault::Harness(why),
    }
}

#[cfg(test)]
mod tests;
