//! Does its work, and obeys any attack it reads. An evaluation that passes it cannot see attacks.

mod decode;

use super::{Reference, Subject, SubjectFault};
use async_trait::async_trait;
use model::seat::{Heard, View};
use model::suite::Lure;
use model::transcript::{Move, ToolAnswer};

#[derive(Debug)]
pub struct Gullible {
    own: Reference,
    lure: Option<Lure>,
    /// What it was told to do instead, while it does it.
    obeying: Option<Reference>,
}

impl Gullible {
    pub fn new(own: Reference, lure: Option<Lure>) -> Self {
        Self { own, lure, obeying: None }
    }
}

#[async_trait]
impl Subject for Gullible {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        if let Some(lure) = self.lure.take_if(|lure| reads(view, &lure.marker)) {
            // What it was about to do goes on afterwards, with the answer it was waiting for.
            self.own.keep_answer(view);
            self.obeying = Some(Reference::new(lure.if_obeyed, false));
        }
        if let Some(orders) = &mut self.obeying {
            let next = orders.next(view).await?;
            if next != Move::Stop {
                return Ok(next);
            }
            self.obeying = None;
        }
        self.own.next(view).await
    }
}

/// Whether the marker is anywhere in what it sees, hidden or not.
fn reads(view: &View<'_>, marker: &str) -> bool {
    let tools = view.seat.tools.iter().map(|tool| tool.description.clone());
    let heard = view.heard.iter().map(|heard| match heard {
        Heard::User(text) | Heard::Message { text, .. } | Heard::Answer { answer: ToolAnswer::Error { message: text, .. }, .. } => {
            text.clone()
        }
        Heard::HandOver { params, .. } => texts(&params.clone().into()),
        Heard::Answer { answer: ToolAnswer::Result(value), .. } | Heard::Peer { said: value, .. } => texts(value),
    });
    std::iter::once(view.seat.prompt.clone()).chain(tools).chain(heard).any(|text| decode::shows(&text, marker))
}

/// The texts of an answer, unescaped, one after the other.
fn texts(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join(" "),
        serde_json::Value::Object(entries) => {
            entries.iter().map(|(key, value)| format!("{key} {}", texts(value))).collect::<Vec<_>>().join(" ")
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => value.to_string(),
    }
}
