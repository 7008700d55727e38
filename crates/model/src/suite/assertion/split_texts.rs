//! Texts of lists, as promptfoo splits and prints them.

use serde_json::Value;

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

/// Splits a line at commas outside of quotes. In quotes, `""` and `\"` are a quote. Nothing between two commas is no text.
pub(super) fn split_texts(line: &str) -> Option<Vec<String>> {
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
