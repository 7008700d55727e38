//! Recorded answers of the case: the first fixture whose tool and argument tests match a call.

use super::fixtures::same_value;
use super::tool_request::ToolRequest;
use model::Workspace;
use model::rule::contains_text;
use model::suite::{ArgMatcher, CaseFixture, RecordedAnswer};
use model::transcript::ToolAnswer;
use serde_json::Value;

/// Answer of a fixture with its number, counted from 1.
#[derive(Debug, PartialEq)]
pub(super) struct NumberedAnswer {
    pub fixture: u32,
    pub answer: ToolAnswer,
}

pub(super) fn recorded_answer(workspace: &Workspace, fixtures: &[CaseFixture], request: &ToolRequest<'_>) -> Option<NumberedAnswer> {
    let matches = |fixture: &CaseFixture| {
        request.tool.has_name(&fixture.tool) && fixture.when.iter().all(|(name, wanted)| passes(workspace, request, name, wanted))
    };
    let (fixture, found) = (1..).zip(fixtures).find(|(_, fixture)| matches(fixture))?;
    let answer = match &found.answer {
        RecordedAnswer::Result(value) => ToolAnswer::Result(value.clone()),
        RecordedAnswer::Error { code, message } => ToolAnswer::Error { code: code.clone(), message: message.clone() },
    };
    Some(NumberedAnswer { fixture, answer })
}

fn passes(workspace: &Workspace, request: &ToolRequest<'_>, name: &str, wanted: &ArgMatcher) -> bool {
    let given = request.given.get(name).is_some_and(|value| !value.is_null());
    if wanted.may_be_absent() && !given {
        return true;
    }
    let same = |a: &Value, b: &Value| same_value(workspace, request.tool, name, a, b);
    request.args().get(name).is_some_and(|value| fits(&same, value, wanted))
}

fn fits(same: &dyn Fn(&Value, &Value) -> bool, value: &Value, wanted: &ArgMatcher) -> bool {
    match wanted {
        ArgMatcher::Exactly(expected) => same(value, expected),
        ArgMatcher::AnyOf(options) => options.iter().any(|option| same(value, option)),
        ArgMatcher::AtMost(bound) => ArgMatcher::is_at_most(value, bound),
        ArgMatcher::Subset(whole) => includes(same, whole, value),
        ArgMatcher::Superset(part) => includes(same, value, part),
        ArgMatcher::Keys(keys) => value.as_object().is_some_and(|entries| keys.iter().all(|key| entries.contains_key(key))),
        ArgMatcher::Contains(text) => contains_text(value, text),
        ArgMatcher::Regex(pattern) => pattern.finds(value),
        ArgMatcher::Optional(inner) => fits(same, value, inner),
        ArgMatcher::Absent => false,
    }
}

/// Returns whether every item or entry of `part` is in `whole`.
fn includes(same: &dyn Fn(&Value, &Value) -> bool, whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|found| same(found, value)))
        }
        (Value::Array(whole), Value::Array(part)) => part.iter().all(|item| whole.iter().any(|found| same(found, item))),
        (_, _) => false,
    }
}
