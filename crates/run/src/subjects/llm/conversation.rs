//! One conversation with a model: one for every seat somebody takes in a trial.

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
    /// How much of what was heard is in the messages.
    seen: usize,
    /// The calls of the last reply, in order, each waiting for its answer.
    open: Vec<OpenCall>,
    /// Words that came in besides answers.
    loose_texts: Vec<ContentBlock>,
    /// Moves of the last reply that are still to be made.
    planned: VecDeque<Move>,
    /// Everything said to the seat in words, for choosing tools by.
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
    /// Answered as soon as the moves of the reply are made.
    Nobody,
}

impl LlmConversation {
    pub(super) fn new(seat: &AgentContext) -> Self {
        Self { agent: seat.agent.clone(), ..Self::default() }
    }

    /// Whether this is the conversation of that seat, and not of one that was left meanwhile.
    pub(super) fn continues(&self, seat: &AgentContext, heard: &[Observation]) -> bool {
        self.agent == seat.agent && self.seen <= heard.len()
    }

    pub(super) fn next_planned(&mut self) -> Option<Move> {
        self.planned.pop_front()
    }

    /// Takes in what is new.
    pub(super) fn observe(&mut self, heard: &[Observation]) {
        for one in &heard[self.seen.min(heard.len())..] {
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
                    self.loose_texts.push(ContentBlock::text(format!("{from} hands this over to you:\n{params}")));
                }
                Observation::Message { from, text } => {
                    self.loose_texts.push(ContentBlock::text(format!("A message has arrived, by its own account from {from}:\n{text}")));
                }
            }
        }
        self.seen = heard.len();
    }

    fn append_query(&mut self, text: &str) {
        self.query.push_str(text);
        self.query.push('\n');
    }

    /// The oldest call that waits for it gets it; what nobody waits for is said in words.
    fn record_answer(&mut self, from: &AnswerSource, text: String, is_error: bool) {
        match self.open.iter_mut().find(|open| open.answer.is_none() && open.source == *from) {
            Some(open) => open.answer = Some((text, is_error)),
            None => self.loose_texts.push(ContentBlock::text(text)),
        }
    }

    /// Everything heard since the last reply becomes one message: answers first, as vendors want it, then words.
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

    /// Takes in a reply and plans what it asks for. Says what of it cannot be understood.
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
                    (AnswerSource::Nobody, Some(("activated".to_owned(), false)))
                }
                // A warning touches nothing, so it may come first; then calls made at once stay one move.
                CallMeaning::Report(text) => {
                    reports.push(Move::Report(text));
                    (AnswerSource::Nobody, None)
                }
                CallMeaning::Ask(question) => {
                    moves.push(Move::Ask(question));
                    (AnswerSource::User, None)
                }
                CallMeaning::Unclear(why) => {
                    unclear.push(format!("{tool}: {why}"));
                    (AnswerSource::Nobody, Some((format!("error invalid_arguments: {why}"), true)))
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
            CallMeaning::Unclear(format!("the arguments are no JSON object: {}", text.chars().take(200).collect::<String>()).into())
        }
    }
}

/// Calls that stand side by side are one move.
fn push_call(moves: &mut Vec<Move>, tool: &str, args: &CallArguments) {
    let call = ToolCall { tool: tool.to_owned(), args: args.to_object() };
    match moves.last_mut() {
        Some(Move::Call(calls)) => calls.push(call),
        Some(_) | None => moves.push(Move::Call(vec![call])),
    }
}

/// Some servers give calls no id, or the same one twice; answers need one to refer to.
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
