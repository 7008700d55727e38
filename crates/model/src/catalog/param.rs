//! Parameters of tools and skills.

use super::kind::ParamKind;
use super::kind_schema::{add_natural_bounds, permitted_types};
use crate::location::Location;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, flag, json, text};
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub struct ParamSpec {
    /// Absent for parameters of imported tools that `kinds` does not list; a smoke check reports them.
    pub kind: Option<ParamKind>,
    pub required: bool,
    pub default: Option<Value>,
    pub description: String,
    /// JSON Schema of this parameter, including the bounds of its kind.
    pub schema: Value,
    pub at: Location,
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

pub(super) fn read_kind(node: &YamlNode, report: &ProblemReport) -> Option<ParamKind> {
    match text(node, report)?.parse::<ParamKind>() {
        Ok(kind) => Some(kind),
        Err(error) => {
            report.add(node.line, error.to_string(), error.remedy());
            None
        }
    }
}

pub(crate) fn read_param(node: &YamlNode, report: &ProblemReport) -> Option<ParamSpec> {
    let fields = YamlFields::open(node, "a parameter", report)?;
    let kind = fields.optional("kind", read_kind);
    let optional = fields.or_default("optional", flag);
    let default = fields.optional("default", json);
    let description = fields.required("description", text);
    let mut schema = Map::new();
    for keyword in SCHEMA_KEYWORDS {
        if let Some(value) = fields.optional(keyword, json) {
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
    Some(ParamSpec { kind, required, default, description, schema: Value::Object(schema), at: report.location(node.line) })
}

fn check_type(kind: Option<&ParamKind>, schema: &Map<String, Value>, line: u32, report: &ProblemReport) {
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
    if matches!(kind, Some(ParamKind::Enum)) && !schema.contains_key("enum") {
        report.add(line, "kind enum needs a list of values", "add enum: [a, b]");
    }
}
