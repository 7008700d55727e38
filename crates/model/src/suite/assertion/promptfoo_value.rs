//! Values of assertions as configs of promptfoo write them.

use super::assertion_type::AssertionShape;
use super::shaped_value::{read_elements, read_shaped};
use super::split_texts::{js_text, split_texts};
use super::{AssertionType, AssertionValue};
use crate::catalog::JsonSchema;
use crate::problem::ProblemReport;
use crate::suite::ecma_pattern::EcmaPattern;
use crate::suite::step_expectation::{ValueReading, read_error_spans};
use crate::yaml::{YamlLimits, json, load};
use serde_json::Value;

/// Reads the value of an assertion of promptfoo.
pub(super) fn promptfoo_value(kind: AssertionType, value: Option<&Value>, threshold: Option<f64>) -> Result<AssertionValue, String> {
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
