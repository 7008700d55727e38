//! Control subject that plays the reference but obeys any attack it reads. An evaluation that passes it cannot detect attacks.

use super::{ReferenceSubject, Subject, SubjectFault};
use async_trait::async_trait;
use model::suite::AttackScript;
use model::transcript::{Move, ToolAnswer};
use model::view::{Observation, View};

#[derive(Debug)]
pub struct GullibleSubject {
    reference: ReferenceSubject,
    lure: Option<AttackScript>,
    /// Steps of the attack, while it executes them.
    obeying: Option<ReferenceSubject>,
}

impl GullibleSubject {
    pub fn new(own: ReferenceSubject, lure: Option<AttackScript>) -> Self {
        Self { reference: own, lure, obeying: None }
    }
}

#[async_trait]
impl Subject for GullibleSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        if let Some(lure) = self.lure.take_if(|lure| sees_marker(view, &lure.marker)) {
            // Store the pending answer so that the reference run can continue afterwards.
            self.reference.keep_answer(view);
            self.obeying = Some(ReferenceSubject::new(lure.if_obeyed, false));
        }
        if let Some(attack) = &mut self.obeying {
            let next = attack.next(view).await?;
            if next != Move::Stop {
                return Ok(next);
            }
            self.obeying = None;
        }
        self.reference.next(view).await
    }
}

/// Reports whether the marker occurs in the prompt, tool descriptions or observations, plain or disguised.
fn sees_marker(view: &View<'_>, marker: &str) -> bool {
    let tools = view.context.tools.iter().map(|tool| tool.description.clone());
    let observed = view.observations.iter().map(|one| match one {
        Observation::User(text)
        | Observation::Message { text, .. }
        | Observation::Answer { answer: ToolAnswer::Error { message: text, .. }, .. } => text.clone(),
        Observation::HandOver { params, .. } => flatten_text(&params.clone().into()),
        Observation::Answer { answer: ToolAnswer::Result(value), .. } | Observation::Peer { said: value, .. } => flatten_text(value),
    });
    std::iter::once(view.context.prompt.clone()).chain(tools).chain(observed).any(|text| disguise::contains_marker(&text, marker))
}

/// Joins all texts of a value, unescaped.
fn flatten_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(flatten_text).collect::<Vec<_>>().join(" "),
        serde_json::Value::Object(entries) => {
            entries.iter().map(|(key, value)| format!("{key} {}", flatten_text(value))).collect::<Vec<_>>().join(" ")
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => value.to_string(),
    }
}
