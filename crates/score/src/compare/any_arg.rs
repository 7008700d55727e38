//! Tests of every argument of a call, at every depth.

use super::TypedArgs;
use model::Decimal;
use model::rule::{any_text, contains_text};
use model::suite::ArgMatcher;
use serde_json::Value;

impl TypedArgs<'_> {
    /// Returns whether some argument passes the test, as a whole or in a part of it. Defaults do not count.
    pub(crate) fn any_satisfies(&self, wanted: &ArgMatcher) -> bool {
        self.args.iter().any(|(name, value)| match wanted {
            ArgMatcher::Exactly(expected) => self.matches(name, expected) || has_part(value, expected),
            ArgMatcher::AnyOf(options) => options.iter().any(|option| self.matches(name, option) || has_part(value, option)),
            ArgMatcher::Contains(text) => contains_text(value, text),
            ArgMatcher::Regex(pattern) => pattern.finds(value),
            ArgMatcher::AtMost(_)
            | ArgMatcher::Subset(_)
            | ArgMatcher::Superset(_)
            | ArgMatcher::Keys(_)
            | ArgMatcher::Optional(_)
            | ArgMatcher::Absent => self.satisfies(name, wanted),
        })
    }
}

/// Returns whether a text, number or key of the value equals the expected one. Letter case and the notation of numbers are ignored.
pub(crate) fn has_part(value: &Value, expected: &Value) -> bool {
    let expected = match expected {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => Decimal::from_json(number).map_or_else(|| number.to_string(), |number| number.to_string()),
        Value::Bool(_) => expected.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return value == expected,
    };
    let number = Decimal::parse_strict(&expected);
    any_text(value, &|text| {
        let text = text.trim();
        text.eq_ignore_ascii_case(&expected) || (number.is_some() && Decimal::parse_strict(text) == number)
    })
}
