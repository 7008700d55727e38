//! What a source answers: fixtures by argument, typed errors, and text that attacks may replace.

use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::yaml::{Fields, Node, Shape, json, map, name, spot, text};
use indexmap::IndexMap;
use serde_json::Value;

/// The answers of one tool. The first whose conditions hold is given.
#[derive(Debug, Clone)]
pub struct Answers {
    pub rows: Vec<Row>,
    pub at: Place,
}

#[derive(Debug, Clone)]
pub struct Row {
    /// Arguments that must be equal; empty fits always.
    pub when: IndexMap<String, Value>,
    pub gives: Gives,
}

#[derive(Debug, Clone)]
pub enum Gives {
    /// `{ hole: name }` inside stands for text that may be replaced.
    Value(Value),
    Error {
        code: String,
        message: Inert,
    },
}

/// Text as written, or a hole with its benign default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inert {
    Text(String),
    Hole(Spot<String>),
}

pub(super) fn read_answers(node: &Node, report: &Report) -> Option<Answers> {
    let at = report.place(node.line);
    let Shape::List(items) = &node.shape else { return Some(Answers { rows: vec![plain(node, report)?], at }) };
    let rows: Vec<Option<Row>> = items.iter().map(|item| read_row(item, report)).collect();
    let rows: Vec<Row> = rows.into_iter().collect::<Option<_>>()?;
    if rows.is_empty() {
        report.add(node.line, "a list of answers has none", "write - { when: {…}, is: … } lines, the last without when");
        return None;
    }
    Some(Answers { rows, at })
}

/// An answer that does not depend on the arguments: a value, or `{ error: CODE, message: … }`.
fn plain(node: &Node, report: &Report) -> Option<Row> {
    let is_error = matches!(&node.shape, Shape::Map(entries) if entries.iter().any(|(key, _)| key.text == "error")
        && entries.iter().all(|(key, _)| matches!(key.text.as_str(), "error" | "message")));
    if is_error {
        return read_row(node, report);
    }
    Some(Row { when: IndexMap::new(), gives: Gives::Value(json(node, report)?) })
}

fn read_row(node: &Node, report: &Report) -> Option<Row> {
    let fields = Fields::open(node, "an answer", report)?;
    let when = fields.or_default("when", map(json));
    let is = fields.maybe("is", json);
    let error = fields.maybe("error", name);
    let message = fields.maybe("message", inert);
    fields.close();
    let gives = match (is, error, message) {
        (Some(value), None, None) => Gives::Value(value),
        (None, Some(code), Some(message)) => Gives::Error { code, message },
        (Some(_) | None, Some(_) | None, Some(_) | None) => {
            report.add(node.line, "an answer is a value or an error", "write is: … or error: CODE with message: …");
            return None;
        }
    };
    Some(Row { when, gives })
}

pub(super) fn inert(node: &Node, report: &Report) -> Option<Inert> {
    if !matches!(node.shape, Shape::Map(_)) {
        return text(node, report).map(Inert::Text);
    }
    let fields = Fields::open(node, "a hole", report)?;
    let hole = fields.need("hole", spot(name));
    fields.close();
    hole.map(Inert::Hole)
}
