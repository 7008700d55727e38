//! Requests of OTLP in protobuf: each span is written as OTLP/JSON, within the limits, before the next is read.
//!
//! Field numbers are those of opentelemetry-proto 1.x, which are frozen.

use super::limits::CollectorLimits;
use super::received::{ReceivedSpans, RequestError, SpanRefusal, id};
use super::redaction::Redactor;
use super::wire::{WireError, WireFields, WireValue};
use std::io::Write;
use store::production::{NewSpan, TraceId};

/// Error inside a span.
enum SpanError {
    Wire(WireError),
    Refusal(SpanRefusal),
}

impl From<WireError> for SpanError {
    fn from(error: WireError) -> Self {
        SpanError::Wire(error)
    }
}

impl From<SpanRefusal> for SpanError {
    fn from(refusal: SpanRefusal) -> Self {
        SpanError::Refusal(refusal)
    }
}

fn malformed(error: WireError) -> RequestError {
    RequestError::Malformed(error.to_string())
}

/// Reads `ExportTraceServiceRequest`.
pub(super) fn read_request(body: &[u8], redactor: &Redactor, limits: &CollectorLimits) -> Result<ReceivedSpans, RequestError> {
    let mut received = ReceivedSpans::default();
    let mut count = 0;
    for resource in messages(body, 1) {
        for scope in messages(resource.map_err(malformed)?, 2) {
            for span in messages(scope.map_err(malformed)?, 2) {
                let span = span.map_err(malformed)?;
                count += 1;
                if count > limits.spans_per_request {
                    return Err(RequestError::TooManySpans(limits.spans_per_request));
                }
                match SpanWriter::new(redactor, limits).write(span) {
                    Ok(span) => received.spans.push(span),
                    Err(SpanError::Refusal(why)) => received.refuse(why, trace_of(span)),
                    Err(SpanError::Wire(error)) => return Err(malformed(error)),
                }
            }
        }
    }
    Ok(received)
}

/// Returns the messages in one field. All other fields are checked and skipped.
fn messages(message: &[u8], wanted: u64) -> impl Iterator<Item = Result<&[u8], WireError>> {
    WireFields::new(message).filter_map(move |field| match field {
        Ok((number, value)) if number == wanted => Some(value.bytes()),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

/// Returns the trace of a span; the last of a repeated field counts.
fn trace_of(span: &[u8]) -> Option<TraceId> {
    messages(span, 1).last().and_then(Result::ok).and_then(id)
}

fn text(bytes: &[u8]) -> Result<&str, SpanError> {
    std::str::from_utf8(bytes).map_err(|_| SpanRefusal::NotUtf8.into())
}

/// Writer of one span.
struct SpanWriter<'r> {
    redactor: &'r Redactor,
    limits: &'r CollectorLimits,
    json: Vec<u8>,
    values: usize,
}

impl<'r> SpanWriter<'r> {
    fn new(redactor: &'r Redactor, limits: &'r CollectorLimits) -> Self {
        Self { redactor, limits, json: Vec::with_capacity(512), values: 0 }
    }

    fn write(mut self, message: &[u8]) -> Result<NewSpan, SpanError> {
        let (mut trace, mut span, mut parent, mut name) = (&[][..], &[][..], &[][..], &[][..]);
        let (mut kind, mut start, mut end) = (0, 0, 0);
        let mut status = &[][..];
        for field in WireFields::new(message) {
            match field? {
                (1, value) => trace = value.bytes()?,
                (2, value) => span = value.bytes()?,
                (4, value) => parent = value.bytes()?,
                (5, value) => name = value.bytes()?,
                (6, value) => kind = value.number()?,
                (7, value) => start = value.number()?,
                (8, value) => end = value.number()?,
                (15, value) => status = value.bytes()?,
                _ => {}
            }
        }
        let trace: [u8; 16] = id(trace).ok_or(SpanRefusal::Ids)?;
        let span: [u8; 8] = id(span).ok_or(SpanRefusal::Ids)?;
        let parent: Option<[u8; 8]> = id(parent);
        self.raw(b"{\"traceId\":\"");
        self.hex(&trace);
        self.raw(b"\",\"spanId\":\"");
        self.hex(&span);
        if let Some(parent) = parent {
            self.raw(b"\",\"parentSpanId\":\"");
            self.hex(&parent);
        }
        self.raw(b"\",\"name\":");
        self.string("", text(name)?)?;
        self.print(format_args!(",\"kind\":{kind},\"startTimeUnixNano\":\"{start}\",\"endTimeUnixNano\":\"{end}\""));
        self.attributes(message, 9, 0)?;
        self.events(message)?;
        self.status(status)?;
        self.raw(b"}");
        self.check_size()?;
        Ok(NewSpan { trace, span, is_root: parent.is_none(), body: self.json })
    }

    fn events(&mut self, message: &[u8]) -> Result<(), SpanError> {
        self.raw(b",\"events\":[");
        for (n, event) in messages(message, 11).enumerate() {
            let event = event?;
            self.count()?;
            self.raw(if n > 0 { b",{\"name\":" } else { b"{\"name\":" });
            let (mut name, mut at) = (&[][..], 0);
            for field in WireFields::new(event) {
                match field? {
                    (1, value) => at = value.number()?,
                    (2, value) => name = value.bytes()?,
                    _ => {}
                }
            }
            self.string("", text(name)?)?;
            self.print(format_args!(",\"timeUnixNano\":\"{at}\""));
            self.attributes(event, 3, 0)?;
            self.raw(b"}");
        }
        self.raw(b"]");
        Ok(())
    }

    fn status(&mut self, message: &[u8]) -> Result<(), SpanError> {
        self.raw(b",\"status\":{");
        let (mut code, mut why) = (0, &[][..]);
        for field in WireFields::new(message) {
            match field? {
                (2, value) => why = value.bytes()?,
                (3, value) => code = value.number()?,
                _ => {}
            }
        }
        if code != 0 {
            self.print(format_args!("\"code\":{code}"));
            if !why.is_empty() {
                self.raw(b",\"message\":");
                self.string("", text(why)?)?;
            }
        }
        self.raw(b"}");
        Ok(())
    }

    /// Writes the pairs in a field as `,"attributes":[…]`.
    fn attributes(&mut self, message: &[u8], wanted: u64, depth: usize) -> Result<(), SpanError> {
        self.raw(b",\"attributes\":");
        self.pairs(message, wanted, depth)
    }

    fn pairs(&mut self, message: &[u8], wanted: u64, depth: usize) -> Result<(), SpanError> {
        self.raw(b"[");
        for (n, pair) in messages(message, wanted).enumerate() {
            let (mut key, mut value) = (&[][..], &[][..]);
            for field in WireFields::new(pair?) {
                match field? {
                    (1, found) => key = found.bytes()?,
                    (2, found) => value = found.bytes()?,
                    _ => {}
                }
            }
            let key = text(key)?;
            self.raw(if n > 0 { b",{\"key\":" } else { b"{\"key\":" });
            self.string("", key)?;
            self.raw(b",\"value\":");
            if self.redactor.is_secret_name(key) {
                self.count()?;
                self.raw(b"{\"stringValue\":\"[redacted]\"}");
            } else {
                self.value(key, value, depth)?;
            }
            self.raw(b"}");
        }
        self.raw(b"]");
        Ok(())
    }

    /// Writes the value of the attribute `key`.
    fn value(&mut self, key: &str, message: &[u8], depth: usize) -> Result<(), SpanError> {
        self.count()?;
        if depth > self.limits.value_depth {
            return Err(SpanRefusal::TooDeep.into());
        }
        // The last field of a oneof counts.
        let field = WireFields::new(message).last().transpose()?;
        match field {
            Some((1, value)) => {
                self.raw(b"{\"stringValue\":");
                self.string(key, text(value.bytes()?)?)?;
            }
            Some((2, value)) => self.print(format_args!("{{\"boolValue\":{}", value.number()? != 0)),
            Some((3, value)) => self.print(format_args!("{{\"intValue\":\"{}\"", value.number()?.cast_signed())),
            Some((4, WireValue::Fixed64(bits))) => {
                self.raw(b"{\"doubleValue\":");
                let number = f64::from_bits(bits);
                // Numbers that are not finite are texts in OTLP/JSON.
                if number.is_finite() { self.print(format_args!("{number}")) } else { self.print(format_args!("\"{number}\"")) }
            }
            Some((5, value)) => {
                self.raw(b"{\"arrayValue\":{\"values\":[");
                for (n, item) in messages(value.bytes()?, 1).enumerate() {
                    if n > 0 {
                        self.raw(b",");
                    }
                    self.value(key, item?, depth + 1)?;
                }
                self.raw(b"]}");
            }
            Some((6, value)) => {
                self.raw(b"{\"kvlistValue\":{\"values\":");
                self.pairs(value.bytes()?, 1, depth + 1)?;
                self.raw(b"}");
            }
            Some((7, value)) => self.print(format_args!("{{\"bytesValue\":\"({} bytes)\"", value.bytes()?.len())),
            Some(_) | None => self.raw(b"{"),
        }
        self.raw(b"}");
        Ok(())
    }

    fn count(&mut self) -> Result<(), SpanError> {
        self.values += 1;
        if self.values > self.limits.values_per_span { Err(SpanRefusal::TooManyValues.into()) } else { self.check_size() }
    }

    fn check_size(&self) -> Result<(), SpanError> {
        if self.json.len() > self.limits.span_bytes { Err(SpanRefusal::TooLarge.into()) } else { Ok(()) }
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.json.extend_from_slice(bytes);
    }

    fn print(&mut self, what: std::fmt::Arguments<'_>) {
        // Writing to memory cannot fail.
        drop(self.json.write_fmt(what));
    }

    fn hex(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.print(format_args!("{byte:02x}"));
        }
    }

    fn string(&mut self, field: &str, text: &str) -> Result<(), SpanError> {
        if text.len() > self.limits.span_bytes {
            return Err(SpanRefusal::TooLarge.into());
        }
        let clean = self.redactor.redact(field, text);
        drop(serde_json::to_writer(&mut self.json, clean.as_ref()));
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::wire::WireWriter;
    use super::*;
    use serde_json::{Value, json};

    fn pair(key: &str, value: &[u8]) -> Vec<u8> {
        let mut pair = WireWriter::default();
        pair.text(1, key.as_bytes());
        pair.text(2, value);
        pair.bytes
    }

    fn string_value(text: &str) -> Vec<u8> {
        let mut value = WireWriter::default();
        value.text(1, text.as_bytes());
        value.bytes
    }

    /// Returns a span with these attributes in field 9.
    fn span(attributes: &[Vec<u8>]) -> WireWriter {
        let mut span = WireWriter::default();
        span.text(1, &[7; 16]);
        span.text(2, &[8; 8]);
        span.text(5, b"chat");
        span.number(6, 3);
        for pair in attributes {
            span.text(9, pair);
        }
        span
    }

    /// Wraps spans into a request.
    fn request(spans: &[Vec<u8>]) -> Vec<u8> {
        let mut scope = WireWriter::default();
        for span in spans {
            scope.text(2, span);
        }
        let mut resource = WireWriter::default();
        resource.text(2, &scope.bytes);
        let mut request = WireWriter::default();
        request.text(1, &resource.bytes);
        request.bytes
    }

    fn read(body: &[u8]) -> Result<ReceivedSpans, RequestError> {
        read_request(body, &Redactor::default(), &CollectorLimits::default())
    }

    #[test]
    fn every_kind_of_value_becomes_json() {
        let mut int = WireWriter::default();
        int.number(3, u64::MAX);
        let mut list = WireWriter::default();
        list.text(1, &string_value("a"));
        list.text(1, &int.bytes);
        let mut array = WireWriter::default();
        array.text(5, &list.bytes);
        let mut map = WireWriter::default();
        map.text(1, &pair("k", &string_value("v")));
        let mut kvlist = WireWriter::default();
        kvlist.text(6, &map.bytes);
        let mut flag = WireWriter::default();
        flag.number(2, 1);
        let mut span =
            span(&[pair("s", &string_value("x \"y\"")), pair("i", &int.bytes), pair("l", &array.bytes), pair("m", &kvlist.bytes)]);
        span.text(9, &pair("b", &flag.bytes));
        span.text(9, &pair("none", &[]));
        let mut status = WireWriter::default();
        status.text(2, b"it failed");
        status.number(3, 2);
        span.text(15, &status.bytes);
        let mut event = WireWriter::default();
        event.text(2, b"gen_ai.choice");
        event.text(3, &pair("content", &string_value("hello")));
        span.text(11, &event.bytes);
        let read = read(&request(&[span.bytes])).unwrap();
        let written: Value = serde_json::from_slice(&read.spans[0].body).unwrap();
        assert!(read.spans[0].is_root);
        assert_eq!(
            written,
            json!({
                "traceId": "07".repeat(16), "spanId": "08".repeat(8), "name": "chat", "kind": 3,
                "startTimeUnixNano": "0", "endTimeUnixNano": "0",
                "attributes": [
                    { "key": "s", "value": { "stringValue": "x \"y\"" } },
                    { "key": "i", "value": { "intValue": "-1" } },
                    { "key": "l", "value": { "arrayValue": { "values": [{ "stringValue": "a" }, { "intValue": "-1" }] } } },
                    { "key": "m", "value": { "kvlistValue": { "values": [{ "key": "k", "value": { "stringValue": "v" } }] } } },
                    { "key": "b", "value": { "boolValue": true } },
                    { "key": "none", "value": {} },
                ],
                "events": [{ "name": "gen_ai.choice", "timeUnixNano": "0", "attributes": [{ "key": "content", "value": { "stringValue": "hello" } }] }],
                "status": { "code": 2, "message": "it failed" },
            })
        );
    }

    #[test]
    fn spans_beyond_the_limits_are_refused_alone() {
        let many: Vec<Vec<u8>> = (0..2_001).map(|_| pair("k", &string_value("v"))).collect();
        let mut deep = string_value("v");
        for _ in 0..20 {
            let mut list = WireWriter::default();
            list.text(1, &deep);
            let mut array = WireWriter::default();
            array.text(5, &list.bytes);
            deep = array.bytes;
        }
        let mut unnamed = WireWriter::default();
        unnamed.text(1, &[0; 16]);
        let broken = pair("k", &{
            let mut value = WireWriter::default();
            value.text(1, &[0xff, 0xfe]);
            value.bytes
        });
        for (bad, why) in [
            (span(&many).bytes, SpanRefusal::TooManyValues),
            (span(&[pair("k", &deep)]).bytes, SpanRefusal::TooDeep),
            (unnamed.bytes, SpanRefusal::Ids),
            (span(&[pair("k", &string_value(&"x".repeat(5 << 20)))]).bytes, SpanRefusal::TooLarge),
            (span(&[broken]).bytes, SpanRefusal::NotUtf8),
        ] {
            let read = read(&request(&[bad, span(&[]).bytes])).unwrap();
            assert_eq!((read.spans.len(), read.refused, read.why), (1, 1, Some(why)));
            let incomplete: &[(TraceId, u64)] = if why == SpanRefusal::Ids { &[] } else { &[([7; 16], 1)] };
            assert_eq!(read.incomplete.into_iter().collect::<Vec<_>>(), incomplete, "{why}");
        }
        // A span without a valid id of its own is lost to its trace too.
        let mut unnamed = WireWriter::default();
        unnamed.text(1, &[9; 16]);
        let read = read(&request(&[unnamed.bytes.clone(), unnamed.bytes])).unwrap();
        assert_eq!(read.incomplete.into_iter().collect::<Vec<_>>(), [([9; 16], 2)]);
    }

    #[test]
    fn damaged_requests_never_panic() {
        let good = request(&[span(&[pair("s", &string_value("text"))]).bytes]);
        for end in 0..good.len() {
            drop(read(&good[..end]));
        }
        for at in 0..good.len() {
            for byte in [0, 0x7f, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] = byte;
                drop(read(&bad));
            }
        }
        assert_eq!(read(&good).unwrap().spans.len(), 1);
        assert!(read(b"not protobuf at all").is_err());
    }
}
