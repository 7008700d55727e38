//! Search for a text that may be encoded: plain, reversed, in base64 or in hexadecimal digits.

use alloy_primitives::hex;
use serde_json::Value;

/// Shortest run of letters that is decoded.
const MIN_ENCODED: usize = 8;

/// Returns whether a text contains a marker, in any letter case, plain or encoded.
pub(super) fn contains_disguised(text: &str, marker: &str) -> bool {
    let marker = marker.trim().to_lowercase();
    if marker.is_empty() {
        return false;
    }
    let holds = |text: &str| text.to_lowercase().contains(&marker);
    let reversed: String = text.chars().rev().collect();
    holds(text) || holds(&visible(text)) || holds(&reversed) || encoded_runs(text).any(|run| decoded(run).iter().any(|text| holds(text)))
}

/// Returns whether any text at any depth of a value contains the marker; keys count, too.
pub(super) fn value_contains_disguised(value: &Value, marker: &str) -> bool {
    match value {
        Value::String(text) => contains_disguised(text, marker),
        Value::Number(number) => number.to_string() == marker,
        Value::Array(items) => items.iter().any(|item| value_contains_disguised(item, marker)),
        Value::Object(entries) => {
            entries.iter().any(|(key, item)| contains_disguised(key, marker) || value_contains_disguised(item, marker))
        }
        Value::Null | Value::Bool(_) => false,
    }
}

/// Returns the text without characters that are not shown.
fn visible(text: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

fn encoded_runs(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    text.split(move |c: char| !is_part(c)).filter(|run| run.len() >= MIN_ENCODED)
}

fn decoded(run: &str) -> Vec<String> {
    let digits = run.strip_prefix("0x").unwrap_or(run);
    let bytes = [hex::decode(digits).ok(), base64_bytes(run)];
    bytes.into_iter().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

/// Decodes standard or URL-safe base64 without padding.
fn base64_bytes(run: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0_u32, 0_u32, vec![]);
    for letter in run.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or_default());
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markers_are_found_plain_and_encoded() {
        let marker = "Ref-7QX2";
        for text in ["see ref-7qx2.", "UmVmLTdRWDI=", "note UmVmLTdRWDI", "0x5265662d37515832", "2XQ7-feR", "Re\u{200b}f-7QX2"] {
            assert!(contains_disguised(text, marker), "{text}");
        }
        for text in ["", "ref-7qx", "UmVmLTdRWDM=", "0x5265662d37515833"] {
            assert!(!contains_disguised(text, marker), "{text}");
        }
        assert!(!contains_disguised("anything", ""));
        assert!(value_contains_disguised(&json!({"a": ["b", {"memo": "UmVmLTdRWDI="}]}), marker));
        assert!(!value_contains_disguised(&json!({"a": [1, null]}), marker));
    }
}
