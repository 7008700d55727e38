//! Reader of the assertions of a case.

use super::assertion_type::AssertionShape;
use super::shaped_value::read_shaped;
use super::split_texts::split_texts;
use super::{AssertedText, AssertionSubject, AssertionType, AssertionValue, CaseAssertion, PathTest};
use crate::catalog::JsonSchema;
use crate::problem::{ProblemReport, did_you_mean};
use crate::rule::TextPattern;
use crate::suite::json_path::read_json_path;
use crate::suite::step_expectation::ValueReading;
use crate::yaml::{YamlFields, YamlLimits, YamlNode, YamlShape, json, load, name, number, spanned};
use serde_json::Value;

pub(in crate::suite) fn read_assertion(node: &YamlNode, report: &ProblemReport) -> Option<CaseAssertion> {
    let fields = YamlFields::open(node, "an assertion", report)?;
    let kind = fields.required("type", read_type);
    let on = fields.optional("on", read_asserted_text);
    let has_on = fields.has("on");
    let threshold = fields.optional("threshold", number);
    let (kind, negated) = kind?;
    let wrong = |what: &str, remedy: &str| -> Option<AssertionValue> {
        report.add(node.line, format!("{kind} {what}"), remedy.to_owned());
        None
    };
    if kind.subject() == AssertionSubject::Reply {
        wrong(
            "reads the reply of a provider, which a trial does not have",
            "use it in a config of promptfoo, or ask a scorer of scorers.yaml",
        );
        return None;
    }
    if threshold.is_some() && !kind.uses_threshold() {
        wrong("has no threshold", "remove threshold, which would have no effect");
    }
    let shaped = |read: &dyn Fn(&Value) -> Result<AssertionValue, String>| match fields.get("value") {
        Some(value) => json(value, report).and_then(|value| read(&value).map_err(|what| wrong(&what, "see the table of assertions")).ok()),
        None => wrong("lacks \"value\"", "see the table of assertions"),
    };
    let reads_trial =
        matches!(kind.value_shape(), AssertionShape::ToolNames | AssertionShape::Steps | AssertionShape::Skills | AssertionShape::Source);
    if has_on && reads_trial {
        // The mistake is on, not the value.
        let _ = fields.get("value");
    }
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
        AssertionShape::ToolNames | AssertionShape::Steps if has_on => wrong("reads the calls of the trial, not a text", "remove on"),
        AssertionShape::Skills if has_on => wrong("reads the skills of the trial, not a text", "remove on"),
        AssertionShape::Source if has_on => wrong("reads the whole trial", "remove on, and read context.transcript"),
        AssertionShape::Source => match fields.get("value").and_then(scalar_text).filter(|source| !source.trim().is_empty()) {
            Some(source) => Some(AssertionValue::Source(source.to_owned())),
            None => wrong("lacks its code", "add value: and an expression, or the body of a function of output and context"),
        },
        AssertionShape::References | AssertionShape::ToolNames | AssertionShape::Words | AssertionShape::Steps | AssertionShape::Skills => {
            shaped(&|value| read_shaped(kind, value, ValueReading::Strict))
        }
        AssertionShape::Elements if !fields.has("value") => Some(AssertionValue::Absent),
        AssertionShape::Elements => shaped(&|value| read_shaped(kind, value, ValueReading::Strict)),
        AssertionShape::OptionalThreshold => Some(AssertionValue::Absent),
        AssertionShape::Spans => None,
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
        // The others are for configs of promptfoo only.
        let is_known = |kind: &AssertionType| kind.subject() != AssertionSubject::Reply;
        let known = || AssertionType::ALL.iter().filter(|(_, kind)| is_known(kind)).map(|(word, _)| *word);
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
