//! Content hashes: ids of plans, trials, tools and records.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;

/// SHA-256 as lower-case hex, stored inline because records hold many of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; HEX_DIGITS]);

const HEX_DIGITS: usize = 64;

impl ContentHash {
    /// Returns the first 128 bits.
    pub fn first_half(&self) -> u128 {
        let digits = self.as_str().bytes().take(HEX_DIGITS / 2);
        digits.fold(0, |bits, digit| bits << 4 | u128::from(char::from(digit).to_digit(16).unwrap_or(0)))
    }

    /// Hashes a JSON value in canonical form: sorted object keys, no white space.
    pub fn of_json(value: &Value) -> Self {
        Self::of_text(&canonical_json(value))
    }

    pub fn of_text(text: &str) -> Self {
        Self::of_parts(&[text])
    }

    /// Hashes the concatenation of texts.
    pub fn of_parts(parts: &[&str]) -> Self {
        let mut sha = Sha256::new();
        for part in parts {
            sha.update(part.as_bytes());
        }
        Self::finish(sha)
    }

    pub(crate) fn finish(sha: Sha256) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; HEX_DIGITS];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(sha.finalize()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        Self(hex)
    }

    /// Parses 64 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let hex: [u8; HEX_DIGITS] = text.as_bytes().try_into().ok()?;
        hex.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')).then_some(Self(hex))
    }

    pub fn as_str(&self) -> &str {
        // All bytes are ASCII hex digits.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the first 12 digits, for display.
    pub fn short(&self) -> &str {
        crate::short_text::short_id(self.as_str())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a hash has 64 hexadecimal digits"))
    }
}

/// Returns a JSON value in the form that is hashed: sorted object keys, no white space.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_canonical_json(value, &mut text);
    text
}

fn write_canonical_json(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push_str(&value.to_string()),
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_canonical_json(item, out);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (n, (key, item)) in sorted.into_iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write_canonical_json(item, out);
            }
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_hash_ignores_key_order() {
        assert_eq!(ContentHash::of_json(&json!({"a": 1, "b": [2]})), ContentHash::of_json(&json!({"b": [2], "a": 1})));
        assert_ne!(ContentHash::of_json(&json!({"a": 1})), ContentHash::of_json(&json!({"a": "1"})));
        assert_eq!(ContentHash::of_parts(&["a", "", "b"]), ContentHash::of_text("ab"));
        assert_eq!(ContentHash::of_text("").as_str(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
    #[test]
    fn hash_parse_accepts_only_64_hex_digits() {
        let hash = ContentHash::of_text("a");
        assert_eq!(ContentHash::parse(hash.as_str()), Some(hash.clone()));
        assert_eq!(serde_json::from_str::<ContentHash>(&serde_json::to_string(&hash).unwrap()).unwrap(), hash);
        for wrong in [&hash.as_str()[1..], &hash.as_str().replace('c', "C"), &"é".repeat(32), ""] {
            assert_eq!(ContentHash::parse(wrong), None, "{wrong}");
        }
        assert!(serde_json::from_str::<ContentHash>("\"abc\"").is_err());
    }
}
