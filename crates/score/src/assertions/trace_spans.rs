//! `trace-span-count`, `trace-span-duration` and `trace-error-spans`: spans of an OTLP trace, selected by a glob on their names.

use super::{AssertionFinding, AssertionInput, AssertionMode, MissingEvidence};
use model::suite::{AssertionValue, CaseAssertion, SpanExpectation};
use serde_json::{Map, Value};

/// Span of a trace. Times are milliseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceSpan {
    pub name: String,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub attributes: Map<String, Value>,
    pub status_code: Option<f64>,
    pub status_message: Option<String>,
}

impl TraceSpan {
    /// Reads a span as promptfoo shows it to scripts (`name`, `startTime`, `endTime`, `attributes`, `statusCode`, `statusMessage`), or as
    /// OTLP writes it in JSON (`startTimeUnixNano`, attributes as a list, `status`).
    pub fn from_json(value: &Value) -> Option<Self> {
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        let nanos =
            |key: &str| value.get(key).and_then(|time| time.as_f64().or_else(|| time.as_str()?.parse().ok())).map(|time| time / 1e6);
        let status = |key: &str| value.get("status").and_then(|status| status.get(key));
        Some(Self {
            name: value.get("name")?.as_str()?.to_owned(),
            start: number("startTime").or_else(|| nanos("startTimeUnixNano")),
            end: number("endTime").or_else(|| nanos("endTimeUnixNano")),
            attributes: match value.get("attributes") {
                Some(Value::Object(attributes)) => attributes.clone(),
                Some(Value::Array(pairs)) => pairs.iter().filter_map(otlp_attribute).collect(),
                Some(_) | None => Map::new(),
            },
            status_code: number("statusCode").or_else(|| match status("code")? {
                Value::String(code) => Some(if code == "STATUS_CODE_ERROR" { 2.0 } else { 0.0 }),
                code @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => code.as_f64(),
            }),
            status_message: value.get("statusMessage").or_else(|| status("message")).and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// Reads the spans of a trace: `{ spans }`, or `{ resourceSpans }` as OTLP writes it in JSON. `None` if it has neither.
    pub fn of_trace(trace: &Value) -> Option<Vec<Self>> {
        if let Some(spans) = trace.get("spans").and_then(Value::as_array) {
            return Some(spans.iter().filter_map(Self::from_json).collect());
        }
        let list = |value: &'_ Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let resources = trace.get("resourceSpans")?.as_array()?;
        let scopes = resources.iter().flat_map(|resource| list(resource, "scopeSpans"));
        Some(scopes.flat_map(|scope| list(&scope, "spans")).filter_map(|span| Self::from_json(&span)).collect())
    }
}

/// Reads `{ key, value: { stringValue } }`.
fn otlp_attribute(pair: &Value) -> Option<(String, Value)> {
    Some((pair.get("key")?.as_str()?.to_owned(), otlp_value(pair.get("value")?)))
}

fn otlp_value(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|fields| fields.iter().next()) else { return Value::Null };
    match kind.as_str() {
        // Whole numbers are texts in JSON.
        "intValue" => inner.as_str().and_then(|text| text.parse::<i64>().ok()).map_or_else(|| inner.clone(), Value::from),
        "arrayValue" => {
            inner.get("values").and_then(Value::as_array).map(|items| items.iter().map(otlp_value).collect()).unwrap_or_default()
        }
        "kvlistValue" => {
            let pairs = inner.get("values").and_then(Value::as_array);
            Value::Object(pairs.into_iter().flatten().filter_map(otlp_attribute).collect())
        }
        _ => inner.clone(),
    }
}

/// Matches a name with `*` and `?`, without regard to letter case. Neither matches a line end.
pub fn matches_glob(name: &str, glob: &str) -> bool {
    let (name, glob): (Vec<char>, Vec<char>) = (name.to_lowercase().chars().collect(), glob.to_lowercase().chars().collect());
    let (mut at, mut in_glob, mut star) = (0, 0, None);
    while at < name.len() {
        let line_end = matches!(name[at], '\n' | '\r' | '\u{2028}' | '\u{2029}');
        match glob.get(in_glob) {
            Some('*') => {
                star = Some((in_glob, at));
                in_glob += 1;
            }
            Some('?') if !line_end => {
                at += 1;
                in_glob += 1;
            }
            Some(c) if *c == name[at] => {
                at += 1;
                in_glob += 1;
            }
            Some(_) | None => match star {
                Some((star_at, from)) if !matches!(name[from], '\n' | '\r' | '\u{2028}' | '\u{2029}') => {
                    star = Some((star_at, from + 1));
                    at = from + 1;
                    in_glob = star_at + 1;
                }
                Some(_) | None => return false,
            },
        }
    }
    glob[in_glob..].iter().all(|c| *c == '*')
}

pub(super) fn span_count(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let (expected, spans) = expectation(assertion, input)?;
    let SpanExpectation::Count { glob, range } = expected else { return MissingEvidence::of("trace-span-count has no value") };
    let count = matching(spans, glob).count();
    Ok(finding(input, range.contains(count as f64), format!("{} of {glob:?}", model::count(count, "span"))))
}

pub(super) fn span_duration(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let (expected, spans) = expectation(assertion, input)?;
    let SpanExpectation::Duration { glob, max_ms, percentile } = expected else {
        return MissingEvidence::of("trace-span-duration has no value");
    };
    let mut durations: Vec<f64> = matching(spans, glob).filter_map(|span| Some(span.end? - span.start?)).collect();
    durations.sort_by(f64::total_cmp);
    let slowest = match percentile {
        Some(percentile) => {
            let rank = (percentile / 100.0 * durations.len() as f64).ceil() as usize;
            durations.get(rank.saturating_sub(1)).copied()
        }
        None => durations.last().copied(),
    };
    match slowest {
        Some(slowest) => Ok(finding(input, slowest <= *max_ms, format!("took {slowest} ms"))),
        None => none_found(input, glob),
    }
}

pub(super) fn error_spans(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let (expected, spans) = expectation(assertion, input)?;
    let SpanExpectation::Errors { glob, max_count, max_percentage } = expected else {
        return MissingEvidence::of("trace-error-spans has no value");
    };
    let total = matching(spans, glob).count();
    if total == 0 {
        return none_found(input, glob);
    }
    let errors = matching(spans, glob).filter(|span| is_error(span)).count() as f64;
    let holds = max_count.is_none_or(|max| errors <= max) && max_percentage.is_none_or(|max| errors / total as f64 * 100.0 <= max);
    Ok(finding(input, holds, format!("{errors} of {total} spans are errors")))
}

/// promptfoo passes if no span matches; otherwise this is no evidence.
fn none_found(input: &AssertionInput<'_>, glob: &str) -> Result<AssertionFinding, MissingEvidence> {
    match input.mode {
        AssertionMode::Compat => Ok(AssertionFinding::decided(true, format!("no span matches {glob:?}"))),
        AssertionMode::Strict => MissingEvidence::of(format!("no span matches {glob:?}")),
    }
}

/// promptfoo ignores `not-` on spans.
fn finding(input: &AssertionInput<'_>, holds: bool, found: String) -> AssertionFinding {
    match input.mode {
        AssertionMode::Compat => AssertionFinding::decided(holds, found),
        AssertionMode::Strict => AssertionFinding::of(holds, found),
    }
}

fn expectation<'a>(
    assertion: &'a CaseAssertion,
    input: &AssertionInput<'a>,
) -> Result<(&'a SpanExpectation, &'a [TraceSpan]), MissingEvidence> {
    match (&assertion.value, input.spans) {
        (AssertionValue::Spans(expected), Some(spans)) => Ok((expected, spans)),
        (_, _) => MissingEvidence::of(format!("there is no trace for {}", assertion.kind)),
    }
}

fn matching<'a>(spans: &'a [TraceSpan], glob: &'a str) -> impl Iterator<Item = &'a TraceSpan> {
    spans.iter().filter(move |span| matches_glob(&span.name, glob))
}

fn is_error(span: &TraceSpan) -> bool {
    let attribute = |key: &str| span.attributes.get(key);
    let set = |value: &Value| matches!(value, Value::Bool(true) | Value::Object(_) | Value::Array(_)) || value == "true";
    let http =
        attribute("http.status_code").and_then(|code| code.as_f64().or_else(|| code.as_str().and_then(|code| code.trim().parse().ok())));
    let words = ["error", "failed", "failure", "exception", "timeout", "abort"];
    span.status_code.is_some_and(|code| code == 2.0 || code >= 400.0)
        || ["error", "exception", "failed", "failure"].iter().any(|key| attribute(key).is_some_and(set))
        || http.is_some_and(|code| code >= 400.0)
        || ["otel.status_code", "status.code"].iter().any(|key| attribute(key).is_some_and(|code| code == "ERROR"))
        || span.status_message.as_ref().is_some_and(|message| words.iter().any(|word| message.to_lowercase().contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_ignore_letter_case() {
        for (name, glob, found) in [
            ("get_Quote", "GET_*", true),
            ("ab", "a?", true),
            ("a", "a?", false),
            ("", "*", true),
            ("axbxc", "a*b*c", true),
            ("a.b", "a?c", false),
        ] {
            assert_eq!(matches_glob(name, glob), found, "{name} {glob}");
        }
    }
}
