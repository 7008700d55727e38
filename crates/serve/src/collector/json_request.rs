//! Requests of OTLP/JSON: one span is held at a time, within the limits.

use super::limits::CollectorLimits;
use super::received::{ReceivedSpans, RequestError, SpanRefusal, id};
use super::redaction::Redactor;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use store::production::{NewSpan, TraceId};

/// Reads a request.
pub(super) fn read_request(body: &[u8], redactor: &Redactor, limits: &CollectorLimits) -> Result<ReceivedSpans, RequestError> {
    let mut reader = RequestReader { redactor, limits, received: ReceivedSpans::default(), count: 0, too_many: false };
    let mut json = serde_json::Deserializer::from_slice(body);
    let read = Level { reader: &mut reader, at: 0 }.deserialize(&mut json).and_then(|()| json.end());
    if reader.too_many {
        return Err(RequestError::TooManySpans(limits.spans_per_request));
    }
    read.map_err(|error| RequestError::Malformed(error.to_string()))?;
    Ok(reader.received)
}

struct RequestReader<'r> {
    redactor: &'r Redactor,
    limits: &'r CollectorLimits,
    received: ReceivedSpans,
    count: usize,
    too_many: bool,
}

/// Keys on the way from a request to its spans.
const PATH: [&str; 3] = ["resourceSpans", "scopeSpans", "spans"];

/// Object at a level of the path, whose list is read and whose other members are skipped.
struct Level<'l, 'r> {
    reader: &'l mut RequestReader<'r>,
    at: usize,
}

impl<'de> DeserializeSeed<'de> for Level<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Level<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with {}", PATH[self.at])
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<String>()? {
            if key == PATH[self.at] {
                members.next_value_seed(LevelList { reader: &mut *self.reader, at: self.at })?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// List at a level of the path.
struct LevelList<'l, 'r> {
    reader: &'l mut RequestReader<'r>,
    at: usize,
}

impl<'de> DeserializeSeed<'de> for LevelList<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for LevelList<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the list {}", PATH[self.at])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if self.at + 1 < PATH.len() {
            while items.next_element_seed(Level { reader: &mut *self.reader, at: self.at + 1 })?.is_some() {}
            return Ok(());
        }
        loop {
            let mut budget = ValueBudget { left: self.reader.limits.values_per_span.saturating_mul(4), over: false };
            let Some(value) = items.next_element_seed(BoundedValue { budget: &mut budget, is_span: true })? else { return Ok(()) };
            self.reader.count += 1;
            if self.reader.count > self.reader.limits.spans_per_request {
                self.reader.too_many = true;
                return Err(A::Error::custom("too many spans"));
            }
            let trace = id_in(&value, "traceId");
            let span = if budget.over { Err(SpanRefusal::TooManyValues) } else { self.reader.span(value, trace) };
            match span {
                Ok(span) => self.reader.received.spans.push(span),
                Err(why) => self.reader.received.refuse(why, trace),
            }
        }
    }
}

impl RequestReader<'_> {
    fn span(&self, mut value: Value, trace: Option<TraceId>) -> Result<NewSpan, SpanRefusal> {
        let trace = trace.ok_or(SpanRefusal::Ids)?;
        let span: [u8; 8] = id_in(&value, "spanId").ok_or(SpanRefusal::Ids)?;
        let is_root = id_in::<8>(&value, "parentSpanId").is_none();
        for (key, id) in [("traceId", &trace[..]), ("spanId", &span[..])] {
            value[key] = Value::String(id.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        self.redact(&mut value, "", 0)?;
        let body = serde_json::to_vec(&value).unwrap_or_default();
        if body.len() > self.limits.span_bytes {
            return Err(SpanRefusal::TooLarge);
        }
        Ok(NewSpan { trace, span, is_root, body })
    }

    /// Removes secrets from all texts, and the values of attributes with secret names.
    fn redact(&self, value: &mut Value, field: &str, depth: usize) -> Result<(), SpanRefusal> {
        // Each level of attributes takes three levels of JSON.
        if depth > 3 * self.limits.value_depth + 6 {
            return Err(SpanRefusal::TooDeep);
        }
        match value {
            Value::String(text) => {
                if let std::borrow::Cow::Owned(clean) = self.redactor.redact(field, text) {
                    *text = clean;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.redact(item, field, depth + 1)?;
                }
            }
            Value::Object(members) => {
                let is_secret = members.get("key").and_then(Value::as_str).is_some_and(|key| self.redactor.is_secret_name(key));
                if is_secret && members.contains_key("value") {
                    members.insert("value".into(), serde_json::json!({ "stringValue": "[redacted]" }));
                    return Ok(());
                }
                // The members of a pair have the name of the pair.
                let own = members.get("key").and_then(Value::as_str).map(str::to_owned);
                let field = own.as_deref().unwrap_or(field);
                for member in members.values_mut() {
                    self.redact(member, field, depth + 1)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }
}

/// Reads an id of a span in hex.
fn id_in<const N: usize>(span: &Value, key: &str) -> Option<[u8; N]> {
    id(&unhex(span.get(key)?.as_str()?)?)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() > 64 || !text.is_ascii() {
        return None;
    }
    let digits = text.as_bytes().chunks_exact(2);
    let is_even = digits.remainder().is_empty();
    let bytes: Option<Vec<u8>> = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    bytes.filter(|_| is_even)
}

/// Values that a span may still have.
struct ValueBudget {
    left: usize,
    over: bool,
}

/// Any JSON, as long as the budget lasts; the rest is skipped.
struct BoundedValue<'b> {
    budget: &'b mut ValueBudget,
    /// The value is a span, whose trace is read in any case.
    is_span: bool,
}

impl<'de> DeserializeSeed<'de> for BoundedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.budget.left == 0 {
            self.budget.over = true;
            deserializer.deserialize_ignored_any(IgnoredAny)?;
            return Ok(Value::Null);
        }
        self.budget.left -= 1;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BoundedValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = vec![];
        while let Some(item) = items.next_element_seed(BoundedValue { budget: &mut *self.budget, is_span: false })? {
            if !self.budget.over {
                list.push(item);
            }
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let is_trace = self.is_span && key == "traceId";
            let mut text = ValueBudget { left: 1, over: false };
            let budget = if is_trace { &mut text } else { &mut *self.budget };
            let value = members.next_value_seed(BoundedValue { budget, is_span: false })?;
            if is_trace || !self.budget.over {
                map.insert(key, value);
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(spans: Value) -> Vec<u8> {
        json!({ "resourceSpans": [{ "resource": { "attributes": [] }, "scopeSpans": [{ "scope": {}, "spans": spans }], "schemaUrl": "x" }] })
            .to_string()
            .into_bytes()
    }

    fn span(attributes: Value) -> Value {
        json!({ "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "EEE19B7EC3C1B174", "name": "chat", "attributes": attributes })
    }

    const TRACE: TraceId = 0x5b8e_fff7_9803_8103_d269_b633_813f_c60c_u128.to_be_bytes();

    /// The trace stands behind more values than a span may have.
    #[test]
    fn the_trace_of_a_span_with_too_many_values_is_read() {
        let many = "{},".repeat(9_000);
        let span = |trace: &str| format!("{{\"attributes\":[{many}{{}}],\"traceId\":{trace},\"spanId\":\"11\"}}");
        let read = |trace: &str| {
            let body = format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}", span(trace));
            let read = read(body.as_bytes()).unwrap();
            assert_eq!((read.refused, read.why), (1, Some(SpanRefusal::TooManyValues)));
            read.incomplete.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(read("\"5b8efff798038103d269b633813fc60c\""), [TRACE]);
        assert!(read("[[1,2],3]").is_empty() && read("{\"traceId\":\"5b\"}").is_empty());
    }

    fn read(body: &[u8]) -> Result<ReceivedSpans, RequestError> {
        read_request(body, &Redactor::default(), &CollectorLimits::default())
    }

    #[test]
    fn spans_are_read_with_ids_in_lower_case() {
        let read = read(&request(json!([span(json!([{ "key": "api_key", "value": { "stringValue": "hunter2hunter2" } }]))]))).unwrap();
        let written: Value = serde_json::from_slice(&read.spans[0].body).unwrap();
        assert_eq!(written["traceId"], "5b8efff798038103d269b633813fc60c");
        assert_eq!(written["attributes"][0]["value"]["stringValue"], "[redacted]");
        assert!(read.spans[0].is_root);
    }

    #[test]
    fn spans_beyond_the_limits_are_refused_alone() {
        let many: Vec<Value> = (0..10_000).map(|_| json!({ "key": "k", "value": { "stringValue": "v" } })).collect();
        let mut deep = json!({ "stringValue": "v" });
        for _ in 0..25 {
            deep = json!({ "arrayValue": { "values": [deep] } });
        }
        for (bad, why) in [
            (span(many.into()), SpanRefusal::TooManyValues),
            (span(json!([{ "key": "k", "value": deep }])), SpanRefusal::TooDeep),
            (json!({ "traceId": "00", "spanId": "11" }), SpanRefusal::Ids),
            (json!({ "traceId": "é".repeat(16), "spanId": "zz" }), SpanRefusal::Ids),
            (json!(7), SpanRefusal::Ids),
            (span(json!([{ "key": "k", "value": { "stringValue": "x".repeat(5 << 20) } }])), SpanRefusal::TooLarge),
        ] {
            let read = read(&request(json!([bad, span(json!([]))]))).unwrap();
            assert_eq!((read.spans.len(), read.refused, read.why), (1, 1, Some(why)));
            let incomplete: &[(TraceId, u64)] = if why == SpanRefusal::Ids { &[] } else { &[(TRACE, 1)] };
            assert_eq!(read.incomplete.into_iter().collect::<Vec<_>>(), incomplete, "{why}");
        }
        // A span without a valid id of its own is lost to its trace too.
        let unnamed = json!({ "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "zz" });
        let unnamed = read(&request(json!([unnamed.clone(), unnamed]))).unwrap();
        assert_eq!(unnamed.incomplete.into_iter().collect::<Vec<_>>(), [(TRACE, 2)]);
    }

    #[test]
    fn damaged_requests_are_refused() {
        for body in [
            "",
            "[]",
            "{\"resourceSpans\":7}",
            "{\"resourceSpans\":[",
            "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"a\":\"\\ud800\"}]}]}]}",
        ] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
        assert_eq!(read(b"{}").unwrap(), ReceivedSpans::default());
        let deep = format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{}", "[".repeat(100_000));
        assert!(read(deep.as_bytes()).is_err());
    }
}
