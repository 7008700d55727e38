//! Matchers for expected arguments: one value, one of several, a bound, a part, a text in it, or no value.

use crate::decimal::Decimal;
use crate::problem::ProblemReport;
use crate::rule::TextPattern;
use crate::yaml::{YamlNode, YamlShape, json};
use serde_json::Value;
use std::fmt;

/// Matcher for an argument. A plain value matches exactly; a mapping with one of `MODES` as its only key selects another mode.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgMatcher {
    Exactly(Value),
    /// One of these values.
    AnyOf(Vec<Value>),
    /// Number, amount or share that is not greater than this one.
    AtMost(Value),
    /// List or mapping that is contained in this one.
    Subset(Value),
    /// List or mapping that contains this one.
    Superset(Value),
    /// Mapping with at least these keys.
    Keys(Vec<String>),
    /// Value with this text in it, at any depth. Letter case is ignored.
    Contains(String),
    /// Value with a text in which the pattern is found, at any depth.
    Regex(TextPattern),
    /// Not given, or given as the inner matcher says.
    Optional(Box<ArgMatcher>),
    /// Not given. A null counts as not given, a default does not count as given.
    Absent,
}

const MODES: [&str; 10] = ["exactly", "any_of", "at_most", "subset", "superset", "keys", "contains", "regex", "optional", "absent"];

impl ArgMatcher {
    /// Returns example values to check against the schema of the tool; none if only parts are matched.
    pub fn examples(&self) -> Vec<&Value> {
        match self {
            ArgMatcher::Exactly(value) | ArgMatcher::AtMost(value) | ArgMatcher::Subset(value) | ArgMatcher::Superset(value) => vec![value],
            ArgMatcher::AnyOf(values) => values.iter().collect(),
            ArgMatcher::Optional(inner) => inner.examples(),
            ArgMatcher::Keys(_) | ArgMatcher::Contains(_) | ArgMatcher::Regex(_) | ArgMatcher::Absent => vec![],
        }
    }

    /// Returns whether a value is a number that is not greater than a bound, where the unit of both is the same.
    pub fn is_at_most(value: &Value, bound: &Value) -> bool {
        number(value).zip(number(bound)).is_some_and(|(value, bound)| value <= bound)
    }

    /// Returns the matcher of a given value.
    pub fn if_given(&self) -> &Self {
        if let ArgMatcher::Optional(inner) = self { inner } else { self }
    }

    /// Returns whether a call without the argument matches.
    pub fn may_be_absent(&self) -> bool {
        matches!(self, ArgMatcher::Optional(_) | ArgMatcher::Absent)
    }
}

impl fmt::Display for ArgMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgMatcher::Exactly(value) => write!(f, "{value}"),
            ArgMatcher::AnyOf(values) => write!(f, "one of {}", values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
            ArgMatcher::AtMost(bound) => write!(f, "at most {bound}"),
            ArgMatcher::Subset(value) => write!(f, "nothing but {value}"),
            ArgMatcher::Superset(value) => write!(f, "at least {value}"),
            ArgMatcher::Keys(keys) => write!(f, "the keys {}", keys.join(", ")),
            ArgMatcher::Contains(text) => write!(f, "a text with {text:?}"),
            ArgMatcher::Regex(pattern) => write!(f, "a text that matches {pattern}"),
            ArgMatcher::Optional(inner) => write!(f, "nothing or {inner}"),
            ArgMatcher::Absent => write!(f, "nothing"),
        }
    }
}

pub(super) fn read_arg_matcher(node: &YamlNode, report: &ProblemReport) -> Option<ArgMatcher> {
    let value = json(node, report)?;
    let YamlShape::Map(entries) = &node.shape else { return Some(exactly(value)) };
    let modes = entries.iter().filter(|(key, _)| MODES.contains(&key.text.as_str())).count();
    let [(mode, inner_node)] = entries.as_slice() else {
        if modes > 0 && modes == entries.len() {
            report.add(node.line, "an argument has several matchers", format!("keep one of {}", MODES.join(", ")));
            return None;
        }
        return Some(exactly(value));
    };
    if modes == 0 {
        return Some(exactly(value));
    }
    let Value::Object(mut only) = value else { return None };
    let inner = only.remove(&mode.text)?;
    let read = match (mode.text.as_str(), inner) {
        ("regex", Value::String(source)) => match TextPattern::parse(&source) {
            Ok(pattern) => Some(ArgMatcher::Regex(pattern)),
            Err(why) => {
                report.add(node.line, why, "write a pattern of the Rust regex crate: regex: \"^0x[0-9a-f]+$\"");
                return None;
            }
        },
        ("optional", _) => match read_arg_matcher(inner_node, report)? {
            inner if inner.may_be_absent() => None,
            inner => Some(ArgMatcher::Optional(Box::new(inner))),
        },
        (mode, inner) => read_mode(mode, inner),
    };
    if read.is_none() {
        let remedy = match mode.text.as_str() {
            "keys" => "write keys: [a, b], names of a mapping's entries",
            "any_of" => "write any_of: [a, b], at least one value",
            "at_most" => "write at_most: and a number, with a unit such as % or bps if needed",
            "contains" | "regex" => "write a text in quotes that is not empty",
            "optional" => "write optional: and the value or matcher of a given argument",
            "absent" => "write absent: true",
            _ => "write a list or a mapping that is not empty",
        };
        report.add(node.line, format!("{} has no valid value to compare with", mode.describe()), remedy);
    }
    read
}

fn read_mode(mode: &str, inner: Value) -> Option<ArgMatcher> {
    match (mode, inner) {
        ("exactly", inner) => Some(exactly(inner)),
        ("any_of", Value::Array(values)) if !values.is_empty() => Some(ArgMatcher::AnyOf(values)),
        ("at_most", inner) if is_bound(&inner) => Some(ArgMatcher::AtMost(inner)),
        ("subset", inner) if has_parts(&inner) => Some(ArgMatcher::Subset(inner)),
        ("superset", inner) if has_parts(&inner) => Some(ArgMatcher::Superset(inner)),
        ("keys", Value::Array(keys)) if !keys.is_empty() => {
            keys.into_iter().map(|key| key.as_str().map(str::to_owned)).collect::<Option<_>>().map(ArgMatcher::Keys)
        }
        ("contains", Value::String(text)) if !text.trim().is_empty() => Some(ArgMatcher::Contains(text)),
        ("absent", Value::Bool(true)) => Some(ArgMatcher::Absent),
        (_, _) => None,
    }
}

/// A null is no value, so it means that the argument must not be given.
fn exactly(value: Value) -> ArgMatcher {
    if value.is_null() { ArgMatcher::Absent } else { ArgMatcher::Exactly(value) }
}

fn is_bound(value: &Value) -> bool {
    let without_unit = |text: &str| ["%", "bps", "bp"].iter().find_map(|unit| text.strip_suffix(unit)).unwrap_or(text).trim().to_owned();
    number(value).is_some() || value.as_str().is_some_and(|text| Decimal::parse(&without_unit(text.trim())).is_some())
}

fn number(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => Decimal::from_json(number),
        Value::String(text) => Decimal::parse(text.trim()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn has_parts(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{YamlLimits, load};
    use serde_json::json;

    fn read(text: &str) -> Result<ArgMatcher, String> {
        let report = ProblemReport::new("f");
        let node = load(text, YamlLimits::default(), &report).unwrap();
        super::read_arg_matcher(&node, &report).ok_or_else(|| report.into_problems()[0].to_string())
    }

    #[test]
    fn arg_matcher_mode_defaults_to_exactly() {
        assert_eq!(read("\"250\""), Ok(ArgMatcher::Exactly(json!("250"))));
        assert_eq!(read("[a, b]"), Ok(ArgMatcher::Exactly(json!(["a", "b"]))));
        assert_eq!(read("{any_of: [1, 2]}"), Ok(ArgMatcher::AnyOf(vec![json!(1), json!(2)])));
        assert_eq!(read("{at_most: 80}"), Ok(ArgMatcher::AtMost(json!(80))));
        assert_eq!(read("{at_most: \"0.8%\"}"), Ok(ArgMatcher::AtMost(json!("0.8%"))));
        assert_eq!(read("{subset: [a]}"), Ok(ArgMatcher::Subset(json!(["a"]))));
        assert_eq!(read("{superset: {a: 1}}"), Ok(ArgMatcher::Superset(json!({"a": 1}))));
        assert_eq!(read("{keys: [a, b]}"), Ok(ArgMatcher::Keys(vec!["a".into(), "b".into()])));
        assert_eq!(read("{contains: seed}"), Ok(ArgMatcher::Contains("seed".into())));
        assert_eq!(read("{regex: \"^a+$\"}"), Ok(ArgMatcher::Regex(TextPattern::parse("^a+$").unwrap())));
    }

    #[test]
    fn arguments_may_be_optional_or_absent() {
        let optional = |inner| Ok(ArgMatcher::Optional(Box::new(inner)));
        assert_eq!(read("{optional: 50}"), optional(ArgMatcher::Exactly(json!(50))));
        assert_eq!(read("{optional: {any_of: [1, 2]}}"), optional(ArgMatcher::AnyOf(vec![json!(1), json!(2)])));
        for text in ["null", "~", "{absent: true}", "{exactly: null}"] {
            assert_eq!(read(text), Ok(ArgMatcher::Absent), "{text}");
        }
        assert_eq!(read("{exactly: {absent: true}}"), Ok(ArgMatcher::Exactly(json!({"absent": true}))));
        assert_eq!(read("{optional: {exactly: {optional: 1}}}"), optional(ArgMatcher::Exactly(json!({"optional": 1}))));
    }

    #[test]
    fn bounds_compare_plain_numbers() {
        for (value, fits) in [(json!(50), true), (json!("49.99"), true), (json!(50.01), false), (json!("x"), false), (json!(null), false)] {
            assert_eq!(ArgMatcher::is_at_most(&value, &json!("50")), fits, "{value}");
        }
        assert_eq!(ArgMatcher::AtMost(json!(80)).to_string(), "at most 80");
    }

    /// Only a mapping with a mode as its single key is a matcher.
    #[test]
    fn object_with_other_keys_is_matched_exactly() {
        assert_eq!(read("{keys: [a], other: 1}"), Ok(ArgMatcher::Exactly(json!({"keys": ["a"], "other": 1}))));
        assert_eq!(read("{exactly: {any_of: [1]}}"), Ok(ArgMatcher::Exactly(json!({"any_of": [1]}))));
        assert_eq!(read("{a: 1}"), Ok(ArgMatcher::Exactly(json!({"a": 1}))));
    }

    #[test]
    fn vacuous_arg_matchers_are_refused() {
        for text in [
            "{contains: \"\"}",
            "{contains: 5}",
            "{regex: 5}",
            "{absent: false}",
            "{absent: 1}",
            "{optional: null}",
            "{optional: {absent: true}}",
            "{any_of: []}",
            "{any_of: a}",
            "{at_most: a}",
            "{at_most: \"%\"}",
            "{at_most: [1]}",
            "{at_most: null}",
            "{subset: []}",
            "{superset: {}}",
            "{superset: a}",
            "{keys: []}",
            "{keys: [1]}",
            "{keys: a}",
        ] {
            assert!(read(text).unwrap_err().contains("to compare with"), "{text}");
        }
        assert!(read("{regex: \"(\"}").unwrap_err().contains("the regex is not valid"));
        assert!(read("{optional: {regex: \"(\"}}").unwrap_err().contains("the regex is not valid"));
        assert!(read("{any_of: [1], subset: [1]}").unwrap_err().contains("several matchers"));
    }
}
