//! Default JSON Schema bounds of each kind.

use super::kind::{AmountUnit, ParamKind};
use serde_json::{Map, Value, json};

/// Adds the bounds of a kind to the schema of a parameter. Bounds written by the author win.
pub(super) fn add_natural_bounds(kind: &ParamKind, schema: &mut Map<String, Value>) {
    let declared = schema.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let (ParamKind::List(item), Some(Value::Object(items))) = (kind, schema.get_mut("items")) {
        add_natural_bounds(item, items);
    }
    for (keyword, value) in bounds(kind, &declared) {
        // An `enum` needs no further bounds; a pattern could only contradict it.
        if !schema.contains_key(keyword) && !schema.contains_key("enum") {
            schema.insert(keyword.to_owned(), value);
        }
    }
}

fn bounds(kind: &ParamKind, declared: &str) -> Vec<(&'static str, Value)> {
    let numeric = matches!(declared, "integer" | "number");
    match kind {
        ParamKind::Address(_) => vec![("pattern", json!("^0x[0-9a-fA-F]{40}$"))],
        ParamKind::Data => vec![("pattern", json!("^0x([0-9a-fA-F]{2})*$"))],
        ParamKind::Amount { .. } if numeric => vec![("minimum", json!(0))],
        ParamKind::Amount { unit: AmountUnit::Base, .. } => vec![("pattern", json!("^[0-9]{1,78}$"))],
        ParamKind::Amount { unit: AmountUnit::Human | AmountUnit::Usd | AmountUnit::Shares, .. } => {
            vec![("pattern", json!("^([0-9]{1,60}(\\.[0-9]{1,36})?|max)$"))]
        }
        ParamKind::Bps => vec![("minimum", json!(0)), ("maximum", json!(10_000))],
        ParamKind::Percent if numeric => vec![("minimum", json!(0)), ("maximum", json!(100))],
        ParamKind::Price(_) | ParamKind::Count | ParamKind::Deadline | ParamKind::Duration(_) | ParamKind::Timestamp if numeric => {
            vec![("minimum", json!(0))]
        }
        ParamKind::Tick(_) if numeric => vec![("minimum", json!(-887_272)), ("maximum", json!(887_272))],
        ParamKind::FeeTier if numeric => vec![("minimum", json!(100)), ("maximum", json!(100_000))],
        // Some tools use 0 for all chains.
        ParamKind::Chain(_) if numeric => vec![("minimum", json!(0))],
        ParamKind::Chain(_) => vec![("pattern", json!("^[A-Za-z0-9][A-Za-z0-9-]{0,31}$"))],
        ParamKind::Token(_) => vec![("minLength", json!(1)), ("maxLength", json!(64))],
        ParamKind::Price(_) => vec![("pattern", json!("^[0-9]{1,60}(\\.[0-9]{1,36})?$"))],
        ParamKind::Id(_) if numeric => vec![("minimum", json!(0))],
        ParamKind::Id(_) => vec![("minLength", json!(1)), ("maxLength", json!(128))],
        ParamKind::Duration(_) | ParamKind::Timestamp => vec![("minLength", json!(1)), ("maxLength", json!(64))],
        ParamKind::Text | ParamKind::Url => vec![("maxLength", json!(4000))],
        ParamKind::List(_) => vec![("maxItems", json!(100))],
        ParamKind::Percent
        | ParamKind::Ratio
        | ParamKind::Tick(_)
        | ParamKind::FeeTier
        | ParamKind::Deadline
        | ParamKind::Count
        | ParamKind::Number
        | ParamKind::Flag
        | ParamKind::Enum
        | ParamKind::Object => vec![],
    }
}

/// Returns the JSON types allowed for a kind.
pub(super) fn permitted_types(kind: &ParamKind) -> &'static [&'static str] {
    match kind {
        ParamKind::Address(_) | ParamKind::Token(_) | ParamKind::Data | ParamKind::Enum | ParamKind::Text | ParamKind::Url => &["string"],
        ParamKind::Chain(_) | ParamKind::Deadline | ParamKind::Timestamp | ParamKind::Duration(_) | ParamKind::Id(_) => {
            &["string", "integer"]
        }
        ParamKind::Amount { .. } | ParamKind::Number => &["string", "number", "integer"],
        ParamKind::Price(_) => &["string", "number"],
        ParamKind::Bps | ParamKind::Tick(_) | ParamKind::FeeTier | ParamKind::Count => &["integer"],
        ParamKind::Percent | ParamKind::Ratio => &["integer", "number"],
        ParamKind::Flag => &["boolean"],
        ParamKind::Object => &["object"],
        ParamKind::List(_) => &["array"],
    }
}
