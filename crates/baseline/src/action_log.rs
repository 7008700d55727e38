//! What was done at a seat so far and what came of it: the only source of its final answer.

use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub(super) struct Done {
    /// The tool or the agent.
    pub name: String,
    pub is_agent: bool,
    pub args: Map<String, Value>,
    pub answer: Value,
    pub ok: bool,
    /// A write that was sent, not only prepared.
    pub wrote: bool,
}

/// How the request ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Outcome {
    /// Nothing was changed, and nothing was asked to be.
    #[default]
    Informed,
    Done,
    Vetoed(String),
    Failed(String),
    /// Nothing could be begun.
    Declined(String),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Story {
    pub done: Vec<Done>,
    pub outcome: Outcome,
}

impl Story {
    /// In one or two sentences, from what happened alone.
    pub(super) fn told(&self) -> String {
        let names = |wanted: fn(&Done) -> bool| {
            let names: Vec<&str> = self.done.iter().filter(|done| wanted(done)).map(|done| done.name.as_str()).collect();
            names.join(", ")
        };
        let asked = names(|done| done.ok && !done.wrote);
        let wrote = names(|done| done.ok && done.wrote);
        match &self.outcome {
            Outcome::Informed if asked.is_empty() => "Nothing was done.".to_owned(),
            Outcome::Informed => format!("Answered from {asked}; nothing was changed."),
            Outcome::Done if wrote.is_empty() => format!("Done through {asked}."),
            Outcome::Done => format!("{wrote} was carried out after {asked}."),
            Outcome::Vetoed(why) => format!("Vetoed, so nothing more was sent: {why}"),
            Outcome::Failed(why) => format!("It failed: {why}"),
            Outcome::Declined(why) => why.clone(),
        }
    }

    /// The newest value under a name, wherever it lies: answers of writes first, then other answers, then what was asked with.
    pub(super) fn find(&self, name: &str, fits: &dyn Fn(&Value) -> bool) -> Option<Value> {
        let mut by_weight: Vec<&Done> = self.done.iter().rev().filter(|done| done.ok).collect();
        by_weight.sort_by_key(|done| !done.wrote);
        let answers = by_weight.iter().map(|done| &done.answer);
        answers
            .flat_map(|answer| deep(answer, name))
            .find(|value| fits(value))
            .cloned()
            .or_else(|| by_weight.iter().filter_map(|done| done.args.get(name)).find(|value| fits(value)).cloned())
    }
}

/// Every value under a name, the outer ones first.
pub(super) fn deep<'v>(value: &'v Value, name: &str) -> Vec<&'v Value> {
    let mut found = vec![];
    let mut level = vec![value];
    while !level.is_empty() && found.len() < 64 {
        let mut next = vec![];
        for value in level {
            match value {
                Value::Object(map) => {
                    found.extend(map.get(name));
                    next.extend(map.values());
                }
                Value::Array(items) => next.extend(items.iter().take(32)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        level = next;
    }
    found
}

/// What an answer says in JSON, also where it is JSON inside a text.
pub(super) fn opened(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.clone(),
    }
}
