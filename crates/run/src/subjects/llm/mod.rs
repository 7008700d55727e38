//! A model in our own tool loop. It is shown the view of its seat and nothing else of the trial.

mod prune;
mod talk;
mod tools;

pub(crate) use tools::EXTRAS;

use super::{Subject, SubjectFault};
use crate::ledger::{CallId, Role};
use crate::limits::Used;
use crate::providers::{Ask, Choice, FaultKind, ProviderFault, Reply, Request, SharedProvider, Stop};
use async_trait::async_trait;
use model::seat::{Seat, View};
use model::transcript::{Limit, Move};
use model::{Hash, SubjectFile, ToolsShown};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use talk::Talk;

/// A model with its settings, shared by all trials of its subject.
#[derive(Debug)]
pub struct Model {
    provider: SharedProvider,
    name: String,
    temperature: Option<f64>,
    output_tokens: u64,
    prompt: Option<String>,
    extra: Map<String, Value>,
    shown: ToolsShown,
}

impl Model {
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
pub struct Llm {
    model: Arc<Model>,
    trial: Hash,
    seed: u64,
    asked: u32,
    used: Used,
    /// By depth: whoever delegates waits while the agent below talks.
    talks: BTreeMap<u32, Talk>,
    forgiven: bool,
}

/// A vendor that pauses more often than this in one move does not come back.
const MOST_PAUSES: u32 = 8;

#[async_trait]
impl Subject for Llm {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        self.sit(view);
        let mut pauses = 0;
        loop {
            let request = match self.planned_or_request(view)? {
                Next::Move(next) => return Ok(next),
                Next::Request(request) => request,
            };
            let reply = self.ask(request).await?;
            match &reply.stop {
                Stop::MaxTokens => return Err(SubjectFault::OverLimit(Limit::Tokens)),
                Stop::Refused => return Ok(Move::Refuse(reply.text())),
                Stop::Paused if pauses < MOST_PAUSES => pauses += 1,
                Stop::Paused => return Err(SubjectFault::Provider("the vendor paused again and again".into())),
                Stop::End | Stop::Calls | Stop::Other(_) => {}
            }
            if let Some(next) = self.take(view, &reply)? {
                return Ok(next);
            }
        }
    }

    fn used(&self) -> Used {
        self.used
    }
}

enum Next {
    Move(Move),
    Request(Request),
}

impl Llm {
    pub fn new(model: Arc<Model>, trial: Hash, seed: u64) -> Self {
        Self { model, trial, seed, asked: 0, used: Used::default(), talks: BTreeMap::new(), forgiven: false }
    }

    /// Finds the conversation of this seat, or opens it; conversations below are over.
    fn sit(&mut self, view: &View<'_>) {
        self.talks.retain(|depth, _| *depth <= view.depth);
        if !self.talks.get(&view.depth).is_some_and(|talk| talk.continues(view.seat, view.heard)) {
            self.talks.insert(view.depth, Talk::new(view.seat));
        }
    }

    fn talk(&mut self, view: &View<'_>) -> &mut Talk {
        self.talks.entry(view.depth).or_insert_with(|| Talk::new(view.seat))
    }

    fn planned_or_request(&mut self, view: &View<'_>) -> Result<Next, SubjectFault> {
        let left = self.model.output_tokens.saturating_sub(self.used.output_tokens);
        let model = self.model.clone();
        let talk = self.talk(view);
        talk.hear(view.heard);
        if let Some(next) = talk.planned() {
            return Ok(Next::Move(next));
        }
        if left == 0 {
            return Err(SubjectFault::OverLimit(Limit::Tokens));
        }
        talk.flush();
        Ok(Next::Request(Request {
            model: model.name.clone(),
            system: system(model.prompt.as_deref(), view.seat),
            messages: talk.messages.clone(),
            tools: tools::shown(view.seat, view.depth, model.shown, &talk.query, &talk.used),
            choice: Choice::Free,
            temperature: model.temperature,
            max_output: left,
            extra: model.extra.clone(),
        }))
    }

    async fn ask(&mut self, request: Request) -> Result<Reply, SubjectFault> {
        let call = CallId { trial: self.trial.clone(), role: Role::Subject, n: self.asked };
        self.asked += 1;
        let reply = self.model.provider.ask(&Ask::new(call, self.seed, request)).await.map_err(faulted)?;
        // A server that does not count is held to about four bytes a token.
        let output = reply.usage.map_or_else(|| reply.to_json().len() as u64 / 4, |usage| usage.output);
        self.used.output_tokens = self.used.output_tokens.saturating_add(output);
        self.used.latency_ms = self.used.latency_ms.saturating_add(reply.latency_ms);
        Ok(reply)
    }

    /// The move a reply makes, or nothing where the model must be asked again.
    fn take(&mut self, view: &View<'_>, reply: &Reply) -> Result<Option<Move>, SubjectFault> {
        let talk = self.talk(view);
        let unclear = talk.take(reply);
        let next = talk.planned();
        if let Some(first) = unclear.first() {
            // The model is told once what was wrong, as any agent loop would; a second time is its own failure.
            if self.forgiven {
                return Err(SubjectFault::Malformed(first.clone()));
            }
            self.forgiven = true;
            return Ok(next);
        }
        match (next, reply.text(), &reply.stop) {
            (Some(next), _, _) => Ok(Some(next)),
            (None, _, Stop::Paused) => Ok(None),
            (None, text, _) if !text.trim().is_empty() => Ok(Some(Move::Say(text))),
            (None, _, Stop::Other(why)) => Err(SubjectFault::Provider(format!("the model stopped without a word: {why}"))),
            (None, _, _) => Err(SubjectFault::Malformed("the reply says nothing and calls nothing".into())),
        }
    }
}

/// What every request from a seat begins with, in bytes: the tools that are shown and what the agent file says.
pub fn fixed_bytes(file: &SubjectFile, seat: &Seat, depth: u32) -> u64 {
    let shown = tools::shown(seat, depth, file.tools, "", &BTreeSet::new());
    let tools: usize = shown.iter().map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len()).sum();
    (system(file.prompt.as_deref(), seat).len() + tools) as u64
}

/// What the agent file says, and the shape its answer must have. Where there is no agent file, as little as possible.
fn system(prompt: Option<&str>, seat: &Seat) -> String {
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

fn faulted(fault: ProviderFault) -> SubjectFault {
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
