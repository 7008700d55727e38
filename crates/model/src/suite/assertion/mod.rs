//! Assertions of a case: tests of a text of the trial. Type names and their meaning are those of promptfoo; `json_path` is ours.

mod assertion_type;
mod display;
mod promptfoo_value;
mod read_assertion;
mod shaped_value;
mod split_texts;

pub use assertion_type::{AssertionSubject, AssertionType};
pub(super) use read_assertion::read_assertion;

use super::ecma_pattern::EcmaPattern;
use super::json_path::JsonPath;
use super::step_expectation::{CountRange, SkillExpectation, SpanExpectation, StepExpectation};
use crate::catalog::JsonSchema;
use crate::location::{Location, Spanned};
use crate::problem::{Problem, ProblemReport};
use crate::rule::TextPattern;
use crate::yaml::{YamlLimits, load};
use promptfoo_value::promptfoo_value;
use serde_json::Value;

#[derive(Debug, Clone)]
pub struct CaseAssertion {
    pub kind: AssertionType,
    /// Written with `not-`.
    pub negated: bool,
    pub value: AssertionValue,
    pub threshold: Option<f64>,
    pub on: AssertedText,
    pub at: Location,
}

/// Value that a text is compared with, checked when the case is read.
#[derive(Debug, Clone)]
pub enum AssertionValue {
    Absent,
    Text(String),
    TextList(Vec<String>),
    Json(Value),
    Pattern(TextPattern),
    Schema(JsonSchema),
    PathTest {
        path: JsonPath,
        test: PathTest,
    },
    /// Pattern of JavaScript.
    Ecma(EcmaPattern),
    Words(CountRange),
    Steps(StepExpectation),
    Spans(SpanExpectation),
    Skills(SkillExpectation),
    /// JavaScript. Its answer is evidence of the run.
    Source(String),
}

/// Test of the value at a path.
#[derive(Debug, Clone)]
pub enum PathTest {
    Equals(Value),
    Contains(String),
    Regex(TextPattern),
    Schema(JsonSchema),
}

/// Text of the trial that an assertion reads.
#[derive(Debug, Clone)]
pub enum AssertedText {
    /// Last words to the user.
    Said,
    /// Result of a call of this tool.
    Returned(Spanned<String>),
    /// Arguments of a call of this tool.
    Called(Spanned<String>),
}

impl CaseAssertion {
    /// Reads one assertion from JSON, such as one of a promptfoo file.
    ///
    /// # Errors
    ///
    /// Returns its mistakes.
    pub fn from_json(value: &Value) -> Result<Self, Vec<Problem>> {
        let report = ProblemReport::new("assertion");
        let read = load(&value.to_string(), YamlLimits::default(), &report).and_then(|node| read_assertion(&node, &report));
        let problems = report.into_problems();
        match read {
            Some(assertion) if problems.is_empty() => Ok(assertion),
            Some(_) | None => Err(problems),
        }
    }

    /// Reads an assertion of promptfoo from its type, value and threshold, with the values that promptfoo accepts.
    ///
    /// # Errors
    ///
    /// Returns a mistake that promptfoo reports when it decides the assertion.
    pub fn from_promptfoo(type_name: &str, value: Option<&Value>, threshold: Option<f64>) -> Result<Self, String> {
        let (base, negated) = type_name.strip_prefix("not-").map_or((type_name, false), |base| (base, true));
        let kind = AssertionType::parse(base)
            .filter(|kind| *kind != AssertionType::JsonPath)
            .ok_or_else(|| format!("there is no assertion of type {type_name:?}"))?;
        let value = promptfoo_value(kind, value.filter(|value| !value.is_null()), threshold).map_err(|what| format!("{kind} {what}"))?;
        let at = ProblemReport::new("assertion").location(1);
        Ok(Self { kind, negated, value, threshold, on: AssertedText::Said, at })
    }

    /// Returns the type as written: `not-contains`.
    pub fn type_name(&self) -> String {
        format!("{}{}", if self.negated { "not-" } else { "" }, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::test_support::{assert_problems, read_ok};

    fn shown(text: &str) -> String {
        read_ok(text, read_assertion).to_string()
    }

    #[test]
    fn assertions_of_every_shape_are_read() {
        for (text, expected) in [
            ("{ type: contains, value: \" a\" }", "contains \" a\""),
            ("{ type: not-icontains, value: 5, on: said }", "not-icontains \"5\""),
            ("{ type: contains-any, value: [a, b] }", "contains-any \"a\", \"b\""),
            ("{ type: contains-all, value: 'x, \"a,\"\"b\\\"\" ,z' }", "contains-all \"x\", \"a,\\\"b\\\"\", \"z\""),
            ("{ type: equals, value: { a: [1] }, on: { returned: t } }", "equals {\"a\":[1]} on what t returned"),
            ("{ type: regex, value: '^\\d+$', on: { called: t } }", "regex \"^\\\\d+$\" on the arguments of t"),
            ("{ type: not-is-json }", "not-is-json"),
            ("{ type: is-json, value: \"type: array\" }", "is-json with a schema"),
            ("{ type: json_path, path: \"$.a[0]\", contains: b }", "json_path $.a[0] contains \"b\""),
            ("{ type: levenshtein, value: abc, threshold: 2 }", "levenshtein \"abc\" threshold 2"),
            ("{ type: latency, threshold: 800 }", "latency threshold 800"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn mistakes_in_assertions_have_place_and_remedy() {
        let good = "type: contains\nvalue: x\n";
        let of = |to: &'static str, problem: &'static str| assert_problems(good, read_assertion, &[(good, to, problem)]);
        of("type: contain\nvalue: x\n", "1: there is no assertion of type \"contain\" | did you mean \"contains\"?");
        of("type: contains\n", "1: contains lacks \"value\" | add value: and a text in quotes");
        of("type: not-contains\nvalue: ''\n", "1: contains compares with a text that is not empty | write value: and a text in quotes");
        of(
            "type: contains-any\nvalue: 'a, \"b'\n",
            "1: contains-any compares with texts that are not empty | write value: [\"a\", \"b\"], or \"a, b\" with closed quotes",
        );
        of("type: regex\nvalue: '('\n", "2: the regex is not valid: unclosed group | write a pattern of the Rust regex crate in quotes");
        of("type: latency\n", "1: latency lacks \"threshold\" | add threshold: and the most that is allowed, in milliseconds");
        of("type: contains\nvalue: x\nthreshold: 2\n", "1: contains has no threshold | remove threshold, which would have no effect");
        of("type: cost\nthreshold: 1\non: said\n", "1: cost measures the trial, not a text | remove on");
        of(
            "type: json_path\npath: $.a\n",
            "1: json_path needs one test of the value at its path | write one of equals, contains, regex, schema",
        );
        of(
            "type: contains\nvalue: x\non: told\n",
            "3: an assertion cannot read \"told\" | write said, { returned: TOOL } or { called: TOOL }",
        );
        of("type: contains\nvalue: x\nvalues: y\n", "3: an assertion has no key \"values\" | did you mean \"value\"?");
        let unknown = CaseAssertion::from_json(&serde_json::json!({"type": "zzz"})).unwrap_err();
        assert!(unknown[0].remedy.contains("contains-any") && unknown[0].remedy.contains("trajectory:tool-used"), "{unknown:?}");
        for elsewhere in ["perplexity", "guardrails", "trace-span-count", "finish-reason"] {
            assert!(!unknown[0].remedy.contains(elsewhere), "{elsewhere} is for configs of promptfoo: {unknown:?}");
        }
        let broken = CaseAssertion::from_json(&serde_json::json!({"type": "is-json", "value": {"type": "strnig"}})).unwrap_err();
        assert!(broken[0].what.starts_with("the schema cannot be used"), "{broken:?}");
        assert!(CaseAssertion::from_json(&serde_json::json!({"type": "regex", "value": "(a{1000}){1000}"})).is_err());
    }
}
