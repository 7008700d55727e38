//! Assertions of a case: tests of a text of the trial. Type names and their meaning are those of promptfoo; `json_path` is ours.

use super::json_path::{JsonPath, read_json_path};
use crate::catalog::JsonSchema;
use crate::location::{Location, Spanned};
use crate::problem::{Problem, ProblemReport, did_you_mean};
use crate::rule::TextPattern;
use crate::text_enum::text_enum;
use crate::yaml::{YamlFields, YamlLimits, YamlNode, YamlShape, json, load, name, number, spanned};
use serde_json::Value;
use std::fmt;

text_enum! {
    /// Type of an assertion, without `not-`.
    AssertionType {
        Contains "contains", Icontains "icontains", ContainsAny "contains-any", ContainsAll "contains-all",
        IcontainsAny "icontains-any", IcontainsAll "icontains-all", Equals "equals", StartsWith "starts-with", Regex "regex",
        IsJson "is-json", ContainsJson "contains-json", JsonPath "json_path", Levenshtein "levenshtein", Latency "latency", Cost "cost",
    }
}

/// Shape of the value that an assertion needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssertionShape {
    Text,
    TextList,
    AnyValue,
    Pattern,
    /// JSON Schema, or nothing.
    OptionalSchema,
    /// Path and one test of the value there, in keys of their own.
    PathTest,
    /// Only a threshold.
    Threshold,
}

impl AssertionType {
    fn value_shape(self) -> AssertionShape {
        match self {
            AssertionType::Contains | AssertionType::Icontains | AssertionType::StartsWith | AssertionType::Levenshtein => {
                AssertionShape::Text
            }
            AssertionType::ContainsAny | AssertionType::ContainsAll | AssertionType::IcontainsAny | AssertionType::IcontainsAll => {
                AssertionShape::TextList
            }
            AssertionType::Equals => AssertionShape::AnyValue,
            AssertionType::Regex => AssertionShape::Pattern,
            AssertionType::IsJson | AssertionType::ContainsJson => AssertionShape::OptionalSchema,
            AssertionType::JsonPath => AssertionShape::PathTest,
            AssertionType::Latency | AssertionType::Cost => AssertionShape::Threshold,
        }
    }

    /// Returns whether it measures the trial and not one of its texts.
    pub fn measures_usage(self) -> bool {
        self.value_shape() == AssertionShape::Threshold
    }
}

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
    PathTest { path: JsonPath, test: PathTest },
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

    /// Returns the type as written: `not-contains`.
    pub fn type_name(&self) -> String {
        format!("{}{}", if self.negated { "not-" } else { "" }, self.kind)
    }
}

/// Writes the assertion in short: `not-contains "x" on what list_files returned`.
impl fmt::Display for CaseAssertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.type_name())?;
        match &self.value {
            AssertionValue::Absent => {}
            AssertionValue::Text(text) => write!(f, " {}", quoted(text))?,
            AssertionValue::TextList(texts) => write!(f, " {}", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))?,
            AssertionValue::Json(value) => write!(f, " {}", shortened(&value.to_string()))?,
            AssertionValue::Pattern(pattern) => write!(f, " {pattern}")?,
            AssertionValue::Schema(_) => write!(f, " with a schema")?,
            AssertionValue::PathTest { path, test } => {
                write!(f, " {path} ")?;
                match test {
                    PathTest::Equals(value) => write!(f, "equals {}", shortened(&value.to_string()))?,
                    PathTest::Contains(text) => write!(f, "contains {}", quoted(text))?,
                    PathTest::Regex(pattern) => write!(f, "matches {pattern}")?,
                    PathTest::Schema(_) => write!(f, "fits a schema")?,
                }
            }
        }
        if let Some(threshold) = self.threshold {
            write!(f, " threshold {threshold}")?;
        }
        match &self.on {
            AssertedText::Said => Ok(()),
            AssertedText::Returned(tool) => write!(f, " on what {} returned", tool.value),
            AssertedText::Called(tool) => write!(f, " on the arguments of {}", tool.value),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    if text.chars().count() <= MAX_CHARS { text.to_owned() } else { text.chars().take(MAX_CHARS - 1).chain(['…']).collect() }
}

pub(super) fn read_assertion(node: &YamlNode, report: &ProblemReport) -> Option<CaseAssertion> {
    let fields = YamlFields::open(node, "an assertion", report)?;
    let kind = fields.required("type", read_type);
    let on = fields.optional("on", read_asserted_text);
    let has_on = fields.has("on");
    let threshold = fields.optional("threshold", number);
    let (kind, negated) = kind?;
    let wrong = |what: &str, remedy: &str| {
        report.add(node.line, format!("{kind} {what}"), remedy.to_owned());
        None
    };
    let value = match kind.value_shape() {
        AssertionShape::Text => match fields.get("value").map(|value| (value, scalar_text(value))) {
            Some((_, Some(text))) if !text.is_empty() || kind == AssertionType::Levenshtein => Some(AssertionValue::Text(text.to_owned())),
            Some(_) => wrong("compares with a text that is not empty", "write value: and a text in quotes"),
            None => wrong("lacks \"value\"", "add value: and a text in quotes"),
        },
        AssertionShape::TextList => match fields.get("value").map(text_list) {
            Some(Some(texts)) => Some(AssertionValue::TextList(texts)),
            Some(None) => wrong("compares with texts that are not empty", "write value: [\"a\", \"b\"], or \"a, b\" with closed quotes"),
            None => wrong("lacks \"value\"", "add value: [\"a\", \"b\"]"),
        },
        AssertionShape::AnyValue => match fields.get("value") {
            Some(value) => json(value, report).map(AssertionValue::Json),
            None => wrong("lacks \"value\"", "add value: and a text, number, list or mapping"),
        },
        AssertionShape::Pattern => match fields.get("value") {
            Some(value) => read_pattern(value, report).map(AssertionValue::Pattern),
            None => wrong("lacks \"value\"", "add value: and a pattern of the Rust regex crate in quotes"),
        },
        AssertionShape::OptionalSchema => match fields.get("value").filter(|value| !value.is_null()) {
            Some(value) => read_schema(value, report).map(AssertionValue::Schema),
            None => Some(AssertionValue::Absent),
        },
        AssertionShape::PathTest => read_path_test(&fields, node, report),
        AssertionShape::Threshold if has_on => wrong("measures the trial, not a text", "remove on"),
        AssertionShape::Threshold if threshold.is_some_and(|most| most >= 0.0) => Some(AssertionValue::Absent),
        AssertionShape::Threshold => {
            let unit = if kind == AssertionType::Latency { "milliseconds" } else { "US dollars" };
            wrong("lacks \"threshold\"", &format!("add threshold: and the most that is allowed, in {unit}"))
        }
    };
    fields.close();
    if has_on && on.is_none() {
        return None;
    }
    Some(CaseAssertion { kind, negated, value: value?, threshold, on: on.unwrap_or(AssertedText::Said), at: report.location(node.line) })
}

fn read_type(node: &YamlNode, report: &ProblemReport) -> Option<(AssertionType, bool)> {
    let written = scalar_text(node).unwrap_or_default();
    let (base, negated) = written.strip_prefix("not-").map_or((written, false), |base| (base, true));
    let found = AssertionType::parse(base);
    if found.is_none() {
        let known = || AssertionType::ALL.iter().map(|(word, _)| *word);
        let remedy = match did_you_mean(base, known()) {
            guess if guess.is_empty() => format!("one of {}, each also with not-", known().collect::<Vec<_>>().join(", ")),
            guess => guess,
        };
        report.add(node.line, format!("there is no assertion of type {}", node.describe()), remedy);
    }
    found.map(|kind| (kind, negated))
}

fn read_asserted_text(node: &YamlNode, report: &ProblemReport) -> Option<AssertedText> {
    if scalar_text(node) == Some("said") {
        return Some(AssertedText::Said);
    }
    if !matches!(node.shape, YamlShape::Map(_)) {
        report.add(
            node.line,
            format!("an assertion cannot read {}", node.describe()),
            "write said, { returned: TOOL } or { called: TOOL }",
        );
        return None;
    }
    let fields = YamlFields::open(node, "what an assertion reads", report)?;
    let returned = fields.optional("returned", spanned(name));
    let called = fields.optional("called", spanned(name));
    fields.close();
    match (returned, called) {
        (Some(tool), None) => Some(AssertedText::Returned(tool)),
        (None, Some(tool)) => Some(AssertedText::Called(tool)),
        (Some(_), Some(_)) | (None, None) => {
            report.add(node.line, "an assertion reads one text", "write on: { returned: TOOL } or on: { called: TOOL }");
            None
        }
    }
}

fn read_path_test(fields: &YamlFields<'_>, node: &YamlNode, report: &ProblemReport) -> Option<AssertionValue> {
    let path = fields.required("path", read_json_path);
    let equals = fields.get("equals").map(|value| json(value, report).map(PathTest::Equals));
    let contains = fields.get("contains").map(|value| match scalar_text(value) {
        Some(text) if !text.is_empty() => Some(PathTest::Contains(text.to_owned())),
        Some(_) | None => {
            report.add(value.line, "json_path contains a text that is not empty", "write contains: and a text in quotes");
            None
        }
    });
    let regex = fields.get("regex").map(|value| read_pattern(value, report).map(PathTest::Regex));
    let schema = fields.get("schema").map(|value| read_schema(value, report).map(PathTest::Schema));
    let mut given = [equals, contains, regex, schema].into_iter().flatten();
    let (Some(test), None) = (given.next(), given.next()) else {
        report.add(node.line, "json_path needs one test of the value at its path", "write one of equals, contains, regex, schema");
        return None;
    };
    Some(AssertionValue::PathTest { path: path?, test: test? })
}

/// Returns the text of a scalar as written, with its spaces.
fn scalar_text(node: &YamlNode) -> Option<&str> {
    match &node.shape {
        YamlShape::Scalar { text, .. } if !node.is_null() => Some(text),
        YamlShape::Scalar { .. } | YamlShape::List(_) | YamlShape::Map(_) => None,
    }
}

fn read_pattern(node: &YamlNode, report: &ProblemReport) -> Option<TextPattern> {
    let pattern = TextPattern::parse(scalar_text(node).unwrap_or_default());
    pattern.map_err(|why| report.add(node.line, why, "write a pattern of the Rust regex crate in quotes")).ok()
}

/// Reads a schema that is a mapping, or a text with a mapping in YAML or JSON.
fn read_schema(node: &YamlNode, report: &ProblemReport) -> Option<JsonSchema> {
    let value = match scalar_text(node) {
        Some(text) => {
            let inner = ProblemReport::new("schema");
            load(text, YamlLimits::default(), &inner).and_then(|node| json(&node, &inner)).filter(Value::is_object)
        }
        None => json(node, report),
    };
    let schema = value.filter(Value::is_object).map(JsonSchema::new);
    let defect = match &schema {
        Some(schema) => schema.defect().map(str::to_owned),
        None => Some("it is not a mapping".to_owned()),
    };
    match defect {
        Some(why) => {
            report.add(node.line, format!("the schema cannot be used: {why}"), "write a JSON Schema, such as { type: object }");
            None
        }
        None => schema,
    }
}

/// Reads a list, or a line of texts with commas between; `None` if one is empty or a quote is not closed.
fn text_list(node: &YamlNode) -> Option<Vec<String>> {
    let texts: Vec<String> = match &node.shape {
        YamlShape::List(items) => items.iter().map(|item| scalar_text(item).map(str::to_owned)).collect::<Option<_>>()?,
        YamlShape::Scalar { text, .. } => split_texts(text)?,
        YamlShape::Map(_) => return None,
    };
    (!texts.is_empty() && texts.iter().all(|text| !text.is_empty())).then_some(texts)
}

/// Splits a line at commas outside of quotes. In quotes, `""` and `\"` are a quote.
fn split_texts(line: &str) -> Option<Vec<String>> {
    let mut texts = vec![];
    let mut rest = line.trim_start();
    loop {
        let (text, after) = match rest.strip_prefix('"') {
            Some(inner) => quoted_text(inner)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].trim().to_owned(), &rest[end..])
            }
        };
        texts.push(text);
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => return Some(texts),
            None => return None,
        }
    }
}

/// Returns the text up to the closing quote, and the rest of the line.
fn quoted_text(inner: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = inner.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match c {
            '"' | '\\' if next == Some('"') => {
                text.push('"');
                chars.next();
            }
            '"' => return Some((text, &inner[at + 1..])),
            _ => text.push(c),
        }
    }
    None
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
        let broken = CaseAssertion::from_json(&serde_json::json!({"type": "is-json", "value": {"type": "strnig"}})).unwrap_err();
        assert!(broken[0].what.starts_with("the schema cannot be used"), "{broken:?}");
        assert!(CaseAssertion::from_json(&serde_json::json!({"type": "regex", "value": "(a{1000}){1000}"})).is_err());
    }
}
