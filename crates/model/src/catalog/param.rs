//! One parameter of a tool or a skill.

use super::kind::Kind;
use super::kind_schema::{add_natural_bounds, permitted_types};
use crate::place::Place;
use crate::problem::Report;
use crate::yaml::{Fields, Node, flag, json, text};
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub struct Param {
    /// Absent where tools were imported and nobody has said it yet; smoke asks for it.
    pub kind: Option<Kind>,
    pub required: bool,
    pub default: Option<Value>,
    pub description: String,
    /// The JSON Schema of this parameter alone, bounds of its kind included.
    pub schema: Value,
    pub at: Place,
}

const SCHEMA_KEYWORDS: &[&str] = &[
    "type",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "pattern",
    "minLength",
    "maxLength",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
];

pub(super) fn read_kind(node: &Node, report: &Report) -> Option<Kind> {
    match text(node, report)?.parse::<Kind>() {
        Ok(kind) => Some(kind),
        Err(error) => {
            report.add(node.line, error.to_string(), error.remedy());
            None
        }
    }
}

pub(crate) fn read_param(node: &Node, report: &Report) -> Option<Param> {
    let fields = Fields::open(node, "a parameter", report)?;
    let kind = fields.maybe("kind", read_kind);
    let optional = fields.or_default("optional", flag);
    let default = fields.maybe("default", json);
    let description = fields.need("description", text);
    let mut schema = Map::new();
    for keyword in SCHEMA_KEYWORDS {
        if let Some(value) = fields.maybe(keyword, json) {
            schema.insert((*keyword).to_owned(), value);
        }
    }
    fields.close();
    check_type(kind.as_ref(), &schema, node.line, report);
    if let Some(kind) = &kind {
        add_natural_bounds(kind, &mut schema);
    }
    let description = description?;
    schema.insert("description".into(), Value::String(description.clone()));
    if let Some(default) = &default {
        schema.insert("default".into(), default.clone());
    }
    let required = default.is_none() && !optional;
    Some(Param { kind, required, default, description, schema: Value::Object(schema), at: report.place(node.line) })
}

fn check_type(kind: Option<&Kind>, schema: &Map<String, Value>, line: u32, report: &Report) {
    match (kind, schema.get("type").and_then(Value::as_str)) {
        (_, None) => report.add(line, "a parameter lacks \"type\"", "one of: string, integer, number, boolean, array, object"),
        (Some(kind), Some(declared)) if !permitted_types(kind).contains(&declared) => {
            report.add(
                line,
                format!("kind {kind} cannot be of type {declared}"),
                format!("write type: {}", permitted_types(kind).join(" or ")),
            );
        }
        (Some(_) | None, Some(_)) => {}
    }
    if matches!(kind, Some(Kind::Enum)) && !schema.contains_key("enum") {
        report.add(line, "kind enum lacks its list", "add enum: [a, b]");
    }
}
