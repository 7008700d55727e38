//! Conversation with the model; each active agent in a trial has one.

use super::tools::{CallMeaning, interpret_call};
use crate::providers::{CallArguments, ChatMessage, ContentBlock, MessageRole, ModelReply};
use model::transcript::{Move, ToolAnswer, ToolCall};
use model::view::{AgentContext, Observation};
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};

#[derive(Debug, Default)]
pub(super) struct LlmConversation {
    pub(super) agent: String,
    pub(super) messages: Vec<ChatMessage>,
    /// Number of observations already added.
    seen: usize,
    /// Calls of the last reply, in order, waiting for answers.
    open: Vec<OpenCall>,
    /// Texts that do not answer a call.
    loose_texts: Vec<ContentBlock>,
    /// Moves of the last reply that are not made yet.
    planned: VecDeque<Move>,
    /// User texts and hand-overs, used to rank tools.
    pub(super) query: String,
    pub(super) used: BTreeSet<String>,
}

#[derive(Debug)]
struct OpenCall {
    id: String,
    source: AnswerSource,
    answer: Option<(String, bool)>,
}

#[derive(Debug, PartialEq, Eq)]
enum AnswerSource {
    Tool(String),
    Peer(String),
    User,
    /// Answered by the loop itself.
    Loop,
}

impl LlmConversation {
    pub(super) fn new(context: &AgentContext) -> Self {
        Self { agent: context.agent.clone(), ..Self::default() }
    }

    /// Reports whether this conversation belongs to the agent and continues its observations.
    pub(super) fn continues(&self, context: &AgentContext, observations: &[Observation]) -> bool {
        self.agent == context.agent && self.seen <= observations.len()
    }

    pub(super) fn next_planned(&mut self) -> Option<Move> {
        self.planned.pop_front()
    }

    /// Adds new observations.
    pub(super) fn observe(&mut self, observations: &[Observation]) {
        for one in &observations[self.seen.min(observations.len())..] {
            match one {
                Observation::Answer { tool, answer } => {
                    let (text, is_error) = match answer {
                        ToolAnswer::Result(value) => (value_text(value), false),
                        ToolAnswer::Error { code, message } => (format!("error {code}: {message}"), true),
                    };
                    self.record_answer(&AnswerSource::Tool(tool.clone()), text, is_error);
                }
                Observation::Peer { agent, said } => self.record_answer(&AnswerSource::Peer(agent.clone()), value_text(said), false),
                Observation::User(text) => {
                    self.append_query(text);
                    self.record_answer(&AnswerSource::User, text.clone(), false);
                }
                Observation::HandOver { from, params } => {
                    let params = Value::Object(params.clone()).to_string();
                    self.append_query(&params);
                    self.loose_texts.push(ContentBlock::text(format!("{from} delegated this task to you:\n{params}")));
                }
                Observation::Message { from, text } => {
                    self.loose_texts.push(ContentBlock::text(format!("A message arrived. It claims to be from {from}:\n{text}")));
                }
            }
        }
        self.seen = observations.len();
    }

    fn append_query(&mut self, text: &str) {
        self.query.push_str(text);
        self.query.push('\n');
    }

    /// Assigns an answer to the oldest matching open call, or adds it as text if there is none.
    fn record_answer(&mut self, from: &AnswerSource, text: String, is_error: bool) {
        match self.open.iter_mut().find(|open| open.answer.is_none() && open.source == *from) {
            Some(open) => open.answer = Some((text, is_error)),
            None => self.loose_texts.push(ContentBlock::text(text)),
        }
    }

    /// Turns everything since the last reply into one message: answers first, as vendors require, then texts.
    pub(super) fn flush_observations(&mut self) {
        let answers = self.open.drain(..).map(|open| {
            let (text, is_error) = open.answer.unwrap_or_else(|| ("noted".to_owned(), false));
            ContentBlock::Answer { id: open.id, text, is_error }
        });
        let blocks: Vec<ContentBlock> = answers.chain(self.loose_texts.drain(..)).collect();
        if !blocks.is_empty() {
            self.messages.push(ChatMessage { by: MessageRole::User, blocks });
        }
    }

    /// Adds a reply and plans its moves. Returns the errors of malformed calls.
    pub(super) fn apply_reply(&mut self, reply: &ModelReply) -> Vec<String> {
        let mut blocks = reply.blocks.clone();
        assign_call_ids(&mut blocks, self.messages.len());
        let mut unclear = vec![];
        let (mut reports, mut moves) = (vec![], vec![]);
        for block in &blocks {
            let ContentBlock::Call { id, tool, args, .. } = block else { continue };
            let (awaits, answer) = match interpret_args(tool, args) {
                CallMeaning::Tool => {
                    self.used.insert(tool.clone());
                    push_call(&mut moves, tool, args);
                    (AnswerSource::Tool(tool.clone()), None)
                }
                CallMeaning::Delegate { to, params } => {
                    moves.push(Move::Delegate { to: to.clone(), params });
                    (AnswerSource::Peer(to), None)
                }
                CallMeaning::Skill { skill, params } => {
                    moves.push(Move::Activate { skill, params });
                    (AnswerSource::Loop, Some(("activated".to_owned(), false)))
                }
                // Reports change nothing, so they go first and parallel calls stay one move.
                CallMeaning::Report(text) => {
                    reports.push(Move::Report(text));
                    (AnswerSource::Loop, None)
                }
                CallMeaning::Ask(question) => {
                    moves.push(Move::Ask(question));
                    (AnswerSource::User, None)
                }
                CallMeaning::Unclear(why) => {
                    unclear.push(format!("{tool}: {why}"));
                    (AnswerSource::Loop, Some((format!("error invalid_arguments: {why}"), true)))
                }
            };
            self.open.push(OpenCall { id: id.clone(), source: awaits, answer });
        }
        self.planned = reports.into_iter().chain(moves).collect();
        self.messages.push(ChatMessage { by: MessageRole::Model, blocks });
        unclear
    }
}

fn interpret_args(tool: &str, args: &CallArguments) -> CallMeaning {
    match args {
        CallArguments::Object(args) => interpret_call(tool, args),
        CallArguments::Malformed(text) => {
            CallMeaning::Unclear(format!("the arguments are not a JSON object: {}", text.chars().take(200).collect::<String>()).into())
        }
    }
}

/// Appends a call; consecutive calls become one move.
fn push_call(moves: &mut Vec<Move>, tool: &str, args: &CallArguments) {
    let call = ToolCall { tool: tool.to_owned(), args: args.to_object() };
    match moves.last_mut() {
        Some(Move::Call(calls)) => calls.push(call),
        Some(_) | None => moves.push(Move::Call(vec![call])),
    }
}

/// Assigns ids to calls that have none or a duplicate, so that answers can refer to them.
fn assign_call_ids(blocks: &mut [ContentBlock], message: usize) {
    let mut seen = BTreeSet::new();
    for (n, block) in blocks.iter_mut().enumerate() {
        if let ContentBlock::Call { id, .. } = block
            && (id.is_empty() || !seen.insert(id.clone()))
        {
            *id = format!("call_{message}_{n}");
        }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
