//! One conversation with a model: one for every seat somebody takes in a trial.

use super::tools::{Meant, meant};
use crate::providers::{Args, Block, By, Message, Reply};
use model::seat::{Heard, Seat};
use model::transcript::{Move, ToolAnswer, ToolCall};
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};

#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) agent: String,
    pub(super) messages: Vec<Message>,
    /// How much of what was heard is in the messages.
    seen: usize,
    /// The calls of the last reply, in order, each waiting for its answer.
    open: Vec<Open>,
    /// Words that came in besides answers.
    words: Vec<Block>,
    /// Moves of the last reply that are still to be made.
    planned: VecDeque<Move>,
    /// Everything said to the seat in words, for choosing tools by.
    pub(super) query: String,
    pub(super) used: BTreeSet<String>,
}

#[derive(Debug)]
struct Open {
    id: String,
    awaits: Awaits,
    answer: Option<(String, bool)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Awaits {
    Tool(String),
    Peer(String),
    User,
    /// Answered as soon as the moves of the reply are made.
    Nobody,
}

impl Talk {
    pub(super) fn new(seat: &Seat) -> Self {
        Self { agent: seat.agent.clone(), ..Self::default() }
    }

    /// Whether this is the conversation of that seat, and not of one that was left meanwhile.
    pub(super) fn continues(&self, seat: &Seat, heard: &[Heard]) -> bool {
        self.agent == seat.agent && self.seen <= heard.len()
    }

    pub(super) fn planned(&mut self) -> Option<Move> {
        self.planned.pop_front()
    }

    /// Takes in what is new.
    pub(super) fn hear(&mut self, heard: &[Heard]) {
        for one in &heard[self.seen.min(heard.len())..] {
            match one {
                Heard::Answer { tool, answer } => {
                    let (text, is_error) = match answer {
                        ToolAnswer::Result(value) => (plain(value), false),
                        ToolAnswer::Error { code, message } => (format!("error {code}: {message}"), true),
                    };
                    self.answer(&Awaits::Tool(tool.clone()), text, is_error);
                }
                Heard::Peer { agent, said } => self.answer(&Awaits::Peer(agent.clone()), plain(said), false),
                Heard::User(text) => {
                    self.query(text);
                    self.answer(&Awaits::User, text.clone(), false);
                }
                Heard::HandOver { from, params } => {
                    let params = Value::Object(params.clone()).to_string();
                    self.query(&params);
                    self.words.push(Block::text(format!("{from} hands this over to you:\n{params}")));
                }
                Heard::Message { from, text } => {
                    self.words.push(Block::text(format!("A message has arrived, by its own account from {from}:\n{text}")));
                }
            }
        }
        self.seen = heard.len();
    }

    fn query(&mut self, text: &str) {
        self.query.push_str(text);
        self.query.push('\n');
    }

    /// The oldest call that waits for it gets it; what nobody waits for is said in words.
    fn answer(&mut self, from: &Awaits, text: String, is_error: bool) {
        match self.open.iter_mut().find(|open| open.answer.is_none() && open.awaits == *from) {
            Some(open) => open.answer = Some((text, is_error)),
            None => self.words.push(Block::text(text)),
        }
    }

    /// Everything heard since the last reply becomes one message: answers first, as vendors want it, then words.
    pub(super) fn flush(&mut self) {
        let answers = self.open.drain(..).map(|open| {
            let (text, is_error) = open.answer.unwrap_or_else(|| ("noted".to_owned(), false));
            Block::Answer { id: open.id, text, is_error }
        });
        let blocks: Vec<Block> = answers.chain(self.words.drain(..)).collect();
        if !blocks.is_empty() {
            self.messages.push(Message { by: By::User, blocks });
        }
    }

    /// Takes in a reply and plans what it asks for. Says what of it cannot be understood.
    pub(super) fn take(&mut self, reply: &Reply) -> Vec<String> {
        let mut blocks = reply.blocks.clone();
        name_calls(&mut blocks, self.messages.len());
        let mut unclear = vec![];
        let (mut reports, mut moves) = (vec![], vec![]);
        for block in &blocks {
            let Block::Call { id, tool, args, .. } = block else { continue };
            let (awaits, answer) = match understood(tool, args) {
                Meant::Tool => {
                    self.used.insert(tool.clone());
                    called(&mut moves, tool, args);
                    (Awaits::Tool(tool.clone()), None)
                }
                Meant::Delegate { to, params } => {
                    moves.push(Move::Delegate { to: to.clone(), params });
                    (Awaits::Peer(to), None)
                }
                Meant::Skill { skill, params } => {
                    moves.push(Move::Activate { skill, params });
                    (Awaits::Nobody, Some(("activated".to_owned(), false)))
                }
                // A warning touches nothing, so it may come first; then calls made at once stay one move.
                Meant::Report(text) => {
                    reports.push(Move::Report(text));
                    (Awaits::Nobody, None)
                }
                Meant::Ask(question) => {
                    moves.push(Move::Ask(question));
                    (Awaits::User, None)
                }
                Meant::Unclear(why) => {
                    unclear.push(format!("{tool}: {why}"));
                    (Awaits::Nobody, Some((format!("error invalid_arguments: {why}"), true)))
                }
            };
            self.open.push(Open { id: id.clone(), awaits, answer });
        }
        self.planned = reports.into_iter().chain(moves).collect();
        self.messages.push(Message { by: By::Model, blocks });
        unclear
    }
}

fn understood(tool: &str, args: &Args) -> Meant {
    match args {
        Args::Object(args) => meant(tool, args),
        Args::Malformed(text) => {
            Meant::Unclear(format!("the arguments are no JSON object: {}", text.chars().take(200).collect::<String>()).into())
        }
    }
}

/// Calls that stand side by side are one move.
fn called(moves: &mut Vec<Move>, tool: &str, args: &Args) {
    let call = ToolCall { tool: tool.to_owned(), args: args.object() };
    match moves.last_mut() {
        Some(Move::Call(calls)) => calls.push(call),
        Some(_) | None => moves.push(Move::Call(vec![call])),
    }
}

/// Some servers give calls no id, or the same one twice; answers need one to refer to.
fn name_calls(blocks: &mut [Block], message: usize) {
    let mut seen = BTreeSet::new();
    for (n, block) in blocks.iter_mut().enumerate() {
        if let Block::Call { id, .. } = block
            && (id.is_empty() || !seen.insert(id.clone()))
        {
            *id = format!("call_{message}_{n}");
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
