//! Finds the marker of an attack in what a subject has been shown, each text once.

use model::transcript::ToolAnswer;
use model::view::{Observation, View};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct MarkerWatch {
    marker: String,
    /// Observations already searched, by agent and depth.
    searched: BTreeMap<(String, u32), usize>,
    /// Descriptions and prompts already searched, by agent, with their total length, since a tool list may change.
    contexts: BTreeMap<String, usize>,
}

impl MarkerWatch {
    pub(super) fn new(marker: String) -> Self {
        Self { marker, searched: BTreeMap::new(), contexts: BTreeMap::new() }
    }

    /// Returns whether the marker is in a text that was not shown before, plain or disguised.
    pub(super) fn sees(&mut self, view: &View<'_>) -> bool {
        self.sees_in_context(view) || self.sees_in_observations(view)
    }

    fn sees_in_context(&mut self, view: &View<'_>) -> bool {
        let context = view.context;
        let length = context.prompt.len() + context.tools.iter().map(|tool| tool.description.len()).sum::<usize>();
        if self.contexts.insert(context.agent.clone(), length) == Some(length) {
            return false;
        }
        let tools = context.tools.iter().map(|tool| tool.description.as_str());
        std::iter::once(context.prompt.as_str()).chain(tools).any(|text| disguise::contains_marker(text, &self.marker))
    }

    fn sees_in_observations(&mut self, view: &View<'_>) -> bool {
        let searched = self.searched.entry((view.context.agent.clone(), view.depth)).or_default();
        // A later delegation to the same agent starts anew.
        let from = if *searched > view.observations.len() { 0 } else { *searched };
        *searched = view.observations.len();
        view.observations[from..].iter().any(|one| disguise::contains_marker(&observed_text(one), &self.marker))
    }
}

fn observed_text(observation: &Observation) -> String {
    match observation {
        Observation::User(text)
        | Observation::Message { text, .. }
        | Observation::Answer { answer: ToolAnswer::Error { message: text, .. }, .. } => text.clone(),
        Observation::HandOver { params, .. } => flatten_text(&params.clone().into()),
        Observation::Answer { answer: ToolAnswer::Result(value), .. } | Observation::Peer { said: value, .. } => flatten_text(value),
    }
}

/// Joins all texts of a value, unescaped.
fn flatten_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(flatten_text).collect::<Vec<_>>().join(" "),
        Value::Object(entries) => entries.iter().map(|(key, value)| format!("{key} {}", flatten_text(value))).collect::<Vec<_>>().join(" "),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Returns the number of messages of the user so far.
pub(super) fn user_turns(view: &View<'_>) -> usize {
    view.observations.iter().filter(|one| matches!(one, Observation::User(_))).count()
}
