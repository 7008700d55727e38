//! The natural JSON-Schema bounds of a kind, used where the author of a tool stated none.

use super::kind::{Kind, Unit};
use serde_json::{Map, Value, json};

/// Adds what follows from the kind to a parameter's schema; never overrides what the author wrote.
pub(super) fn add_natural_bounds(kind: &Kind, schema: &mut Map<String, Value>) {
    let declared = schema.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let (Kind::List(item), Some(Value::Object(items))) = (kind, schema.get_mut("items")) {
        add_natural_bounds(item, items);
    }
    for (keyword, value) in bounds(kind, &declared) {
        // `enum` already says everything; a pattern beside it could only contradict it.
        if !schema.contains_key(keyword) && !schema.contains_key("enum") {
            schema.insert(keyword.to_owned(), value);
        }
    }
}

fn bounds(kind: &Kind, declared: &str) -> Vec<(&'static str, Value)> {
    let numeric = matches!(declared, "integer" | "number");
    match kind {
        Kind::Address(_) => vec![("pattern", json!("^0x[0-9a-fA-F]{40}$"))],
        Kind::Data => vec![("pattern", json!("^0x([0-9a-fA-F]{2})*$"))],
        Kind::Amount { .. } if numeric => vec![("minimum", json!(0))],
        Kind::Amount { unit: Unit::Base, .. } => vec![("pattern", json!("^[0-9]{1,78}$"))],
        Kind::Amount { unit: Unit::Human | Unit::Usd | Unit::Shares, .. } => {
            vec![("pattern", json!("^([0-9]{1,60}(\\.[0-9]{1,36})?|max)$"))]
        }
        Kind::Bps => vec![("minimum", json!(0)), ("maximum", json!(10_000))],
        Kind::Percent if numeric => vec![("minimum", json!(0)), ("maximum", json!(100))],
        Kind::Price(_) | Kind::Count | Kind::Deadline | Kind::Duration(_) | Kind::Timestamp if numeric => {
            vec![("minimum", json!(0))]
        }
        Kind::Tick(_) if numeric => vec![("minimum", json!(-887_272)), ("maximum", json!(887_272))],
        Kind::FeeTier if numeric => vec![("minimum", json!(100)), ("maximum", json!(100_000))],
        // 0 means every chain where a tool says so.
        Kind::Chain(_) if numeric => vec![("minimum", json!(0))],
        Kind::Chain(_) => vec![("pattern", json!("^[a-z0-9][a-z0-9-]{0,31}$"))],
        Kind::Token(_) => vec![("minLength", json!(1)), ("maxLength", json!(64))],
        Kind::Price(_) => vec![("pattern", json!("^[0-9]{1,60}(\\.[0-9]{1,36})?$"))],
        Kind::Id(_) if numeric => vec![("minimum", json!(0))],
        Kind::Id(_) => vec![("minLength", json!(1)), ("maxLength", json!(128))],
        Kind::Duration(_) | Kind::Timestamp => vec![("minLength", json!(1)), ("maxLength", json!(64))],
        Kind::Text | Kind::Url => vec![("maxLength", json!(4000))],
        Kind::List(_) => vec![("maxItems", json!(100))],
        Kind::Percent
        | Kind::Ratio
        | Kind::Tick(_)
        | Kind::FeeTier
        | Kind::Deadline
        | Kind::Count
        | Kind::Flag
        | Kind::Enum
        | Kind::Object => vec![],
    }
}

/// The JSON types a parameter of this kind may be declared with; empty means any.
pub(super) fn permitted_types(kind: &Kind) -> &'static [&'static str] {
    match kind {
        Kind::Address(_) | Kind::Token(_) | Kind::Data | Kind::Enum | Kind::Text | Kind::Url => &["string"],
        Kind::Chain(_) | Kind::Deadline | Kind::Timestamp | Kind::Duration(_) | Kind::Id(_) => &["string", "integer"],
        Kind::Amount { .. } => &["string", "number", "integer"],
        Kind::Price(_) => &["string", "number"],
        Kind::Bps | Kind::Tick(_) | Kind::FeeTier | Kind::Count => &["integer"],
        Kind::Percent | Kind::Ratio => &["integer", "number"],
        Kind::Flag => &["boolean"],
        Kind::Object => &["object"],
        Kind::List(_) => &["array"],
    }
}
