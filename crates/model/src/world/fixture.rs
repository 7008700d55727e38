//! Fixtures: answers and errors of tools by argument, and text that attacks may replace.

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, YamlShape, json, map, name, spanned, text};
use indexmap::IndexMap;
use serde_json::Value;

/// Fixtures of one tool. The first row whose conditions hold is used.
#[derive(Debug, Clone)]
pub struct ToolFixtures {
    pub rows: Vec<FixtureRow>,
    pub at: Location,
}

#[derive(Debug, Clone)]
pub struct FixtureRow {
    /// Required argument values; an empty map always matches.
    pub when: IndexMap<String, Value>,
    pub result: FixtureResult,
}

#[derive(Debug, Clone)]
pub enum FixtureResult {
    /// May contain `{ hole: name }` for text that an attack can replace.
    Value(Value),
    Error {
        code: String,
        message: InjectableText,
    },
}

/// Fixed text, or an injection hole whose text an attack can replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InjectableText {
    Text(String),
    Hole(Spanned<String>),
}

pub(super) fn read_fixtures(node: &YamlNode, report: &ProblemReport) -> Option<ToolFixtures> {
    let at = report.location(node.line);
    let YamlShape::List(items) = &node.shape else { return Some(ToolFixtures { rows: vec![read_unconditional(node, report)?], at }) };
    let rows: Vec<Option<FixtureRow>> = items.iter().map(|item| read_row(item, report)).collect();
    let rows: Vec<FixtureRow> = rows.into_iter().collect::<Option<_>>()?;
    if rows.is_empty() {
        report.add(node.line, "the list of answers is empty", "write - { when: {…}, is: … } lines, the last without when");
        return None;
    }
    Some(ToolFixtures { rows, at })
}

/// Reads an answer that does not depend on the arguments: a value, or `{ error: CODE, message: … }`.
fn read_unconditional(node: &YamlNode, report: &ProblemReport) -> Option<FixtureRow> {
    let is_error = matches!(&node.shape, YamlShape::Map(entries) if entries.iter().any(|(key, _)| key.text == "error")
        && entries.iter().all(|(key, _)| matches!(key.text.as_str(), "error" | "message")));
    if is_error {
        return read_row(node, report);
    }
    Some(FixtureRow { when: IndexMap::new(), result: FixtureResult::Value(json(node, report)?) })
}

fn read_row(node: &YamlNode, report: &ProblemReport) -> Option<FixtureRow> {
    let fields = YamlFields::open(node, "an answer", report)?;
    let when = fields.or_default("when", map(json));
    let is = fields.optional("is", json);
    let error = fields.optional("error", name);
    let message = fields.optional("message", read_injectable_text);
    fields.close();
    let result = match (is, error, message) {
        (Some(value), None, None) => FixtureResult::Value(value),
        (None, Some(code), Some(message)) => FixtureResult::Error { code, message },
        (Some(_) | None, Some(_) | None, Some(_) | None) => {
            report.add(node.line, "an answer is a value or an error", "write is: … or error: CODE with message: …");
            return None;
        }
    };
    Some(FixtureRow { when, result })
}

pub(super) fn read_injectable_text(node: &YamlNode, report: &ProblemReport) -> Option<InjectableText> {
    if !matches!(node.shape, YamlShape::Map(_)) {
        return text(node, report).map(InjectableText::Text);
    }
    let fields = YamlFields::open(node, "a hole", report)?;
    let hole = fields.required("hole", spanned(name));
    fields.close();
    hole.map(InjectableText::Hole)
}
