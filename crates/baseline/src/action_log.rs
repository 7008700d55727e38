//! Log of the actions of one agent and their results: the only source of its final answer.

use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub(crate) struct LoggedAction {
    /// Name of the tool or agent.
    pub name: String,
    pub is_agent: bool,
    pub args: Map<String, Value>,
    pub answer: Value,
    pub ok: bool,
    /// Set for a write that was sent, not only prepared.
    pub wrote: bool,
}

/// Outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum RequestOutcome {
    /// Information only; no change was requested or made.
    #[default]
    Informed,
    Done,
    Vetoed(String),
    Failed(String),
    /// No plan was possible.
    Declined(String),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ActionLog {
    pub done: Vec<LoggedAction>,
    pub outcome: RequestOutcome,
}

impl ActionLog {
    /// Summarises the log in one or two sentences.
    pub(crate) fn summary(&self) -> String {
        let names = |wanted: fn(&LoggedAction) -> bool| {
            let names: Vec<&str> = self.done.iter().filter(|done| wanted(done)).map(|done| done.name.as_str()).collect();
            names.join(", ")
        };
        let asked = names(|done| done.ok && !done.wrote);
        let wrote = names(|done| done.ok && done.wrote);
        match &self.outcome {
            RequestOutcome::Informed if asked.is_empty() => "Nothing was done.".to_owned(),
            RequestOutcome::Informed => format!("Answered from {asked}; nothing was changed."),
            RequestOutcome::Done if wrote.is_empty() => format!("Done through {asked}."),
            RequestOutcome::Done => format!("{wrote} was carried out after {asked}."),
            RequestOutcome::Vetoed(why) => format!("Vetoed, so nothing more was sent: {why}"),
            RequestOutcome::Failed(why) => format!("It failed: {why}"),
            RequestOutcome::Declined(why) => why.clone(),
        }
    }

    /// Returns the newest value under a name: from answers of writes, then other answers, then arguments.
    pub(crate) fn find(&self, name: &str, fits: &dyn Fn(&Value) -> bool) -> Option<Value> {
        let mut by_weight: Vec<&LoggedAction> = self.done.iter().rev().filter(|done| done.ok).collect();
        by_weight.sort_by_key(|done| !done.wrote);
        let answers = by_weight.iter().map(|done| &done.answer);
        answers
            .flat_map(|answer| find_values(answer, name))
            .find(|value| fits(value))
            .cloned()
            .or_else(|| by_weight.iter().filter_map(|done| done.args.get(name)).find(|value| fits(value)).cloned())
    }
}

/// Returns every value under a name, the outer ones first.
pub(crate) fn find_values<'v>(value: &'v Value, name: &str) -> Vec<&'v Value> {
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

/// Returns an answer as JSON, also where it is JSON inside a text.
pub(crate) fn parse_embedded_json(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.clone(),
    }
}
