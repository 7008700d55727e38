//! Wrong argument values of the right kind, for mutants of a reference.

use crate::compare::TypedArgs;
use indexmap::IndexMap;
use model::rule::contains_text;
use model::suite::ArgMatcher;
use model::{ParamKind, ParamSpec, Workspace};
use serde_json::{Map, Value, json};

/// Well-formed address that occurs in no world.
pub(super) const UNKNOWN_ADDRESS: &str = "0x00000000000000000000000000000000000bad00";

/// Returns a value for the argument with a different meaning that the case does not accept, or `None` if no candidate differs.
pub(super) fn altered_argument(
    workspace: &Workspace,
    params: &IndexMap<String, ParamSpec>,
    args: &Map<String, Value>,
    name: &str,
    also_right: &[&ArgMatcher],
) -> Option<Value> {
    let given = TypedArgs::new(workspace, params, args);
    let value = given.value(name)?;
    let before = given.meaning_as(name, value);
    let right = |candidate: &Value| {
        let meaning = given.meaning_as(name, candidate);
        meaning == before
            || also_right.iter().any(|wanted| match wanted.if_given() {
                ArgMatcher::AnyOf(options) => options.iter().any(|option| given.meaning_as(name, option) == meaning),
                ArgMatcher::AtMost(bound) => meaning.is_at_most(&given.meaning_as(name, bound)),
                ArgMatcher::Contains(text) => contains_text(candidate, text),
                ArgMatcher::Regex(pattern) => pattern.finds(candidate),
                ArgMatcher::Exactly(_)
                | ArgMatcher::Subset(_)
                | ArgMatcher::Superset(_)
                | ArgMatcher::Keys(_)
                | ArgMatcher::Optional(_)
                | ArgMatcher::Absent => false,
            })
    };
    let param = params.get(name);
    candidates(workspace, param, value).into_iter().find(|candidate| !right(candidate))
}

/// Returns candidate values, first by parameter kind, then by JSON type.
fn candidates(workspace: &Workspace, param: Option<&ParamSpec>, value: &Value) -> Vec<Value> {
    let mut found = vec![];
    match param.and_then(|param| param.kind.as_ref()) {
        Some(ParamKind::Chain(_)) => found.extend(workspace.chains.iter().map(|chain| json!(chain.name))),
        Some(ParamKind::Token(_)) => {
            found.extend(workspace.chains.iter().flat_map(|chain| &chain.tokens).take(40).map(|token| json!(token.symbol.value)));
        }
        Some(ParamKind::Address(_)) => found.push(json!(UNKNOWN_ADDRESS)),
        Some(_) | None => {}
    }
    let listed = param.and_then(|param| param.schema.get("enum")).and_then(Value::as_array);
    found.extend(listed.into_iter().flatten().cloned());
    match value {
        Value::Null => found.push(json!("something else")),
        Value::Bool(flag) => found.push(json!(!flag)),
        Value::Number(number) => found.extend(number.as_f64().map(|number| doubled_plus_one(number, number.fract() == 0.0))),
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) => found.push(json!(doubled_plus_one(number, number.fract() == 0.0).to_string())),
            Err(_) => found.extend([json!("1"), json!(format!("{text} or something else"))]),
        },
        Value::Array(items) => {
            found.extend(items.first().map(|first| Value::Array(candidates(workspace, None, first).into_iter().take(1).collect())));
            found.push(json!(["something else"]));
        }
        Value::Object(_) => found.extend([json!({}), json!({"something": "else"})]),
    }
    found
}

/// Returns 2x + 1, which changes zero too.
pub(super) fn doubled_plus_one(number: f64, whole: bool) -> Value {
    let more = number.mul_add(2.0, 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "a whole number within the range of i64")]
    if whole && more.abs() < 9e15 { json!(more as i64) } else { json!(more) }
}
