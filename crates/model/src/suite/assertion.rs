//! Assertions of a case: tests of a text of the trial. Type names and their meaning are those of promptfoo; `json_path` is ours.

use super::ecma_pattern::EcmaPattern;
use super::json_path::{JsonPath, read_json_path};
use super::step_expectation::{
    CountRange, SkillExpectation, SpanExpectation, StepExpectation, ValueReading, read_error_spans, read_skills_used, read_span_count,
    read_span_duration, read_step_count, read_tool_arguments, read_tool_sequence, read_tools_used, read_word_count,
};
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
        WordCount "word-count", RougeN "rouge-n", Bleu "bleu", Gleu "gleu", IsXml "is-xml", ContainsXml "contains-xml",
        IsHtml "is-html", ContainsHtml "contains-html", IsRefusal "is-refusal", ToolCallF1 "tool-call-f1",
        ToolUsed "trajectory:tool-used", ToolSequence "trajectory:tool-sequence", ToolArguments "trajectory:tool-args-match",
        StepCount "trajectory:step-count", SpanCount "trace-span-count", SpanDuration "trace-span-duration", ErrorSpans "trace-error-spans",
        FinishReason "finish-reason", Perplexity "perplexity", PerplexityScore "perplexity-score", Guardrails "guardrails",
        SkillUsed "skill-used", ValidToolsCall "is-valid-openai-tools-call", Javascript "javascript",
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
    /// Nothing, or a threshold.
    OptionalThreshold,
    /// Texts that the text is compared with, or one text.
    References,
    /// Paths of elements, or nothing.
    Elements,
    ToolNames,
    Words,
    Steps,
    Spans,
    Skills,
    /// Source code of a function body.
    Source,
}

/// Source of what an assertion reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssertionSubject {
    /// A text of the trial.
    Text,
    /// Response time and cost.
    Usage,
    /// Tool calls of the trial.
    Steps,
    /// Skills that the agent activated.
    Skills,
    /// Output and transcript, read by JavaScript. Its answer is evidence of the run.
    Script,
    /// Reply of a provider, with its metadata. Only configs of promptfoo have one.
    Reply,
}

impl AssertionType {
    fn value_shape(self) -> AssertionShape {
        match self {
            AssertionType::Contains
            | AssertionType::Icontains
            | AssertionType::StartsWith
            | AssertionType::Levenshtein
            | AssertionType::RougeN
            | AssertionType::FinishReason => AssertionShape::Text,
            AssertionType::ContainsAny | AssertionType::ContainsAll | AssertionType::IcontainsAny | AssertionType::IcontainsAll => {
                AssertionShape::TextList
            }
            AssertionType::Equals => AssertionShape::AnyValue,
            AssertionType::Regex => AssertionShape::Pattern,
            AssertionType::IsJson | AssertionType::ContainsJson => AssertionShape::OptionalSchema,
            AssertionType::JsonPath => AssertionShape::PathTest,
            AssertionType::Latency | AssertionType::Cost => AssertionShape::Threshold,
            AssertionType::IsHtml
            | AssertionType::ContainsHtml
            | AssertionType::IsRefusal
            | AssertionType::Perplexity
            | AssertionType::PerplexityScore
            | AssertionType::Guardrails
            | AssertionType::ValidToolsCall => AssertionShape::OptionalThreshold,
            AssertionType::Bleu | AssertionType::Gleu => AssertionShape::References,
            AssertionType::IsXml | AssertionType::ContainsXml => AssertionShape::Elements,
            AssertionType::ToolCallF1 => AssertionShape::ToolNames,
            AssertionType::WordCount => AssertionShape::Words,
            AssertionType::ToolUsed | AssertionType::ToolSequence | AssertionType::ToolArguments | AssertionType::StepCount => {
                AssertionShape::Steps
            }
            AssertionType::SpanCount | AssertionType::SpanDuration | AssertionType::ErrorSpans => AssertionShape::Spans,
            AssertionType::SkillUsed => AssertionShape::Skills,
            AssertionType::Javascript => AssertionShape::Source,
        }
    }

    /// Returns whether it measures the trial and not one of its texts.
    pub fn measures_usage(self) -> bool {
        self.subject() == AssertionSubject::Usage
    }

    /// Returns whether a threshold decides it. On other types promptfoo ignores it, and a case may not state one.
    pub fn uses_threshold(self) -> bool {
        match self {
            AssertionType::Levenshtein
            | AssertionType::Latency
            | AssertionType::Cost
            | AssertionType::RougeN
            | AssertionType::Bleu
            | AssertionType::Gleu
            | AssertionType::ToolCallF1
            | AssertionType::Perplexity
            | AssertionType::PerplexityScore
            | AssertionType::Javascript => true,
            AssertionType::Contains
            | AssertionType::Icontains
            | AssertionType::ContainsAny
            | AssertionType::ContainsAll
            | AssertionType::IcontainsAny
            | AssertionType::IcontainsAll
            | AssertionType::Equals
            | AssertionType::StartsWith
            | AssertionType::Regex
            | AssertionType::IsJson
            | AssertionType::ContainsJson
            | AssertionType::JsonPath
            | AssertionType::WordCount
            | AssertionType::IsXml
            | AssertionType::ContainsXml
            | AssertionType::IsHtml
            | AssertionType::ContainsHtml
            | AssertionType::IsRefusal
            | AssertionType::ToolUsed
            | AssertionType::ToolSequence
            | AssertionType::ToolArguments
            | AssertionType::StepCount
            | AssertionType::SpanCount
            | AssertionType::SpanDuration
            | AssertionType::ErrorSpans
            | AssertionType::FinishReason
            | AssertionType::Guardrails
            | AssertionType::SkillUsed
            | AssertionType::ValidToolsCall => false,
        }
    }

    /// Returns the source of what it reads.
    pub fn subject(self) -> AssertionSubject {
        match self.value_shape() {
            AssertionShape::Threshold => AssertionSubject::Usage,
            AssertionShape::ToolNames | AssertionShape::Steps => AssertionSubject::Steps,
            AssertionShape::Skills => AssertionSubject::Skills,
            AssertionShape::Source => AssertionSubject::Script,
            AssertionShape::Spans => AssertionSubject::Reply,
            AssertionShape::OptionalThreshold
                if !matches!(self, AssertionType::IsHtml | AssertionType::ContainsHtml | AssertionType::IsRefusal) =>
            {
                AssertionSubject::Reply
            }
            AssertionShape::Text if self == AssertionType::FinishReason => AssertionSubject::Reply,
            AssertionShape::Text
            | AssertionShape::TextList
            | AssertionShape::AnyValue
            | AssertionShape::Pattern
            | AssertionShape::OptionalSchema
            | AssertionShape::PathTest
            | AssertionShape::OptionalThreshold
            | AssertionShape::References
            | AssertionShape::Elements
            | AssertionShape::Words => AssertionSubject::Text,
        }
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
            AssertionValue::Ecma(pattern) => write!(f, " {}", quoted(pattern.source()))?,
            AssertionValue::Words(range) => write!(f, " {}", range_text(*range))?,
            AssertionValue::Steps(steps) => write!(f, " {}", steps_text(steps))?,
            AssertionValue::Spans(_) => {}
            AssertionValue::Skills(skills) => write!(f, " {}", skills_text(skills))?,
            AssertionValue::Source(source) => write!(f, " {}", quoted(source))?,
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

fn range_text(range: CountRange) -> String {
    match (range.min, range.max) {
        (Some(min), Some(max)) if min == max => min.to_string(),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}

fn steps_text(steps: &StepExpectation) -> String {
    let names = |patterns: &[super::StepPattern]| {
        let names = patterns.iter().map(|pattern| pattern.glob.as_deref().unwrap_or("*"));
        names.collect::<Vec<_>>().join(", ")
    };
    match steps {
        StepExpectation::UsesAll(patterns) => names(patterns),
        StepExpectation::Sequence { steps, .. } => names(steps),
        StepExpectation::UsesCounted { pattern, range } | StepExpectation::Count { pattern, range } => {
            format!("{} {}", names(std::slice::from_ref(pattern)), range_text(*range))
        }
        StepExpectation::Arguments { pattern, args, .. } => {
            format!("{} {}", names(std::slice::from_ref(pattern)), shortened(&args.to_string()))
        }
    }
}

fn skills_text(skills: &SkillExpectation) -> String {
    match skills {
        SkillExpectation::UsesAll(names) => names.join(", "),
        SkillExpectation::UsesCounted { name, glob, range } => {
            format!("{} {}", name.as_deref().or(glob.as_deref()).unwrap_or("*"), range_text(*range)).trim_end().to_owned()
        }
    }
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

/// Reads a value that native suites and configs of promptfoo write alike.
fn read_shaped(kind: AssertionType, value: &Value, reading: ValueReading) -> Result<AssertionValue, String> {
    match kind {
        AssertionType::Bleu | AssertionType::Gleu => match value {
            Value::String(text) => Ok(AssertionValue::TextList(vec![text.clone()])),
            Value::Array(items) if !items.is_empty() => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>();
                texts.map(AssertionValue::TextList).ok_or_else(|| "compares with texts".to_owned())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Err("compares with a text or a list of texts".to_owned())
            }
        },
        AssertionType::IsXml | AssertionType::ContainsXml => read_elements(value),
        AssertionType::ToolCallF1 => {
            let names: Vec<String> = match value {
                Value::String(line) => line.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect(),
                Value::Array(items) => {
                    items.iter().map(js_text).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => vec![],
            };
            if names.is_empty() { Err("needs the name of at least one tool".to_owned()) } else { Ok(AssertionValue::TextList(names)) }
        }
        AssertionType::WordCount => read_word_count(value).map(AssertionValue::Words),
        AssertionType::ToolUsed => read_tools_used(value, reading).map(AssertionValue::Steps),
        AssertionType::ToolSequence => read_tool_sequence(value, reading).map(AssertionValue::Steps),
        AssertionType::ToolArguments => read_tool_arguments(value, reading).map(AssertionValue::Steps),
        AssertionType::StepCount => read_step_count(value, reading).map(AssertionValue::Steps),
        AssertionType::SpanCount => read_span_count(value).map(AssertionValue::Spans),
        AssertionType::SpanDuration => read_span_duration(value).map(AssertionValue::Spans),
        AssertionType::ErrorSpans => Ok(AssertionValue::Spans(read_error_spans(value))),
        AssertionType::SkillUsed => read_skills_used(value).map(AssertionValue::Skills),
        AssertionType::Contains
        | AssertionType::Icontains
        | AssertionType::ContainsAny
        | AssertionType::ContainsAll
        | AssertionType::IcontainsAny
        | AssertionType::IcontainsAll
        | AssertionType::Equals
        | AssertionType::StartsWith
        | AssertionType::Regex
        | AssertionType::IsJson
        | AssertionType::ContainsJson
        | AssertionType::JsonPath
        | AssertionType::Levenshtein
        | AssertionType::Latency
        | AssertionType::Cost
        | AssertionType::RougeN
        | AssertionType::IsHtml
        | AssertionType::ContainsHtml
        | AssertionType::IsRefusal
        | AssertionType::FinishReason
        | AssertionType::Perplexity
        | AssertionType::PerplexityScore
        | AssertionType::Guardrails
        | AssertionType::ValidToolsCall
        | AssertionType::Javascript => Err("has no value of its own shape".to_owned()),
    }
}

fn read_elements(value: &Value) -> Result<AssertionValue, String> {
    let wrong = || "names elements in a text, a list, or { requiredElements }".to_owned();
    let listed = |items: &[Value]| items.iter().map(js_text).collect::<Vec<_>>();
    match value {
        Value::Null => Ok(AssertionValue::Absent),
        Value::String(line) => Ok(AssertionValue::TextList(line.split(',').map(|path| path.trim().to_owned()).collect())),
        Value::Array(items) => Ok(AssertionValue::TextList(listed(items))),
        Value::Object(fields) if fields.is_empty() => Ok(AssertionValue::Absent),
        Value::Object(fields) => match fields.get("requiredElements") {
            Some(Value::Array(items)) => Ok(AssertionValue::TextList(listed(items))),
            Some(_) | None => Err(wrong()),
        },
        Value::Bool(_) | Value::Number(_) => Err(wrong()),
    }
}

/// Reads the value of an assertion of promptfoo.
fn promptfoo_value(kind: AssertionType, value: Option<&Value>, threshold: Option<f64>) -> Result<AssertionValue, String> {
    let required = || value.ok_or_else(|| "lacks \"value\"".to_owned());
    match kind.value_shape() {
        AssertionShape::Text => match required()? {
            Value::String(text) if !text.is_empty() || matches!(kind, AssertionType::Levenshtein | AssertionType::RougeN) => {
                Ok(AssertionValue::Text(text.clone()))
            }
            number @ Value::Number(_) if matches!(kind, AssertionType::Contains | AssertionType::Icontains) => {
                Ok(AssertionValue::Text(js_text(number)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                Err("compares with a text that is not empty".to_owned())
            }
        },
        AssertionShape::TextList => match required()? {
            Value::Array(items) => Ok(AssertionValue::TextList(items.iter().map(js_text).collect())),
            Value::String(line) if !line.is_empty() => {
                split_texts(line).map(AssertionValue::TextList).ok_or_else(|| "has a quote that is not closed".to_owned())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Err("compares with a list of texts".to_owned())
            }
        },
        // Without a value promptfoo compares with the text "undefined".
        AssertionShape::AnyValue => Ok(AssertionValue::Json(value.cloned().unwrap_or_else(|| "undefined".into()))),
        AssertionShape::Pattern => match required()? {
            Value::String(source) if !source.is_empty() => Ok(AssertionValue::Ecma(EcmaPattern::new(source))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                Err("needs a pattern".to_owned())
            }
        },
        AssertionShape::OptionalSchema => promptfoo_schema(value),
        AssertionShape::Threshold if threshold.is_none() => Err("lacks \"threshold\"".to_owned()),
        AssertionShape::Threshold | AssertionShape::OptionalThreshold => Ok(AssertionValue::Absent),
        AssertionShape::Elements => value.map_or(Ok(AssertionValue::Absent), read_elements),
        AssertionShape::Spans if kind == AssertionType::ErrorSpans => {
            Ok(AssertionValue::Spans(read_error_spans(value.unwrap_or(&Value::Null))))
        }
        AssertionShape::References | AssertionShape::ToolNames | AssertionShape::Words | AssertionShape::Steps => {
            read_shaped(kind, required()?, ValueReading::Lenient)
        }
        AssertionShape::Spans | AssertionShape::Skills => read_shaped(kind, required()?, ValueReading::Lenient),
        AssertionShape::Source => match required()? {
            Value::String(source) => Ok(AssertionValue::Source(source.trim_end().to_owned())),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Err("needs JavaScript".to_owned()),
        },
        AssertionShape::PathTest => Err("is not a type of promptfoo".to_owned()),
    }
}

/// Reads a schema of promptfoo; an empty value is none.
fn promptfoo_schema(value: Option<&Value>) -> Result<AssertionValue, String> {
    let value = match value {
        None | Some(Value::Bool(false)) => return Ok(AssertionValue::Absent),
        Some(Value::String(text)) if text.is_empty() => return Ok(AssertionValue::Absent),
        Some(Value::String(text)) => {
            let inner = ProblemReport::new("schema");
            let read = load(text, YamlLimits::default(), &inner).and_then(|node| json(&node, &inner));
            read.ok_or_else(|| "has a schema that is not YAML".to_owned())?
        }
        Some(value) => value.clone(),
    };
    if !value.is_object() {
        return Err("has a schema that is not a mapping".to_owned());
    }
    let schema = JsonSchema::new(value);
    match schema.defect() {
        Some(why) => Err(format!("has a schema that cannot be used: {why}")),
        None => Ok(AssertionValue::Schema(schema)),
    }
}

/// Returns a value as `String(value)` of JavaScript does.
pub(super) fn js_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.0}"),
            Some(_) | None => number.to_string(),
        },
        Value::Array(items) => {
            items.iter().map(|item| if item.is_null() { String::new() } else { js_text(item) }).collect::<Vec<_>>().join(",")
        }
        Value::Object(_) => "[object Object]".to_owned(),
        Value::Null | Value::Bool(_) => value.to_string(),
    }
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

/// Splits a line at commas outside of quotes. In quotes, `""` and `\"` are a quote. Nothing between two commas is no text.
fn split_texts(line: &str) -> Option<Vec<String>> {
    let mut texts = vec![];
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        if rest.is_empty() {
            return Some(texts);
        }
        match rest.strip_prefix('"') {
            Some(inner) => {
                let (text, after) = quoted_text(inner)?;
                texts.push(text);
                rest = after.trim_start();
                if !rest.is_empty() && !rest.starts_with(',') {
                    return None;
                }
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                texts.push(rest[..end].trim().to_owned());
                rest = &rest[end..];
            }
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
            '\\' if next == Some('\\') => {
                text.push('\\');
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
