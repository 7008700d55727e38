//! Values that native suites and configs of promptfoo write alike.

use super::split_texts::js_text;
use super::{AssertionType, AssertionValue};
use crate::suite::step_expectation::{
    ValueReading, read_error_spans, read_skills_used, read_span_count, read_span_duration, read_step_count, read_tool_arguments,
    read_tool_sequence, read_tools_used, read_word_count,
};
use serde_json::Value;

/// Reads a value by the type of its assertion.
pub(super) fn read_shaped(kind: AssertionType, value: &Value, reading: ValueReading) -> Result<AssertionValue, String> {
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

pub(super) fn read_elements(value: &Value) -> Result<AssertionValue, String> {
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
