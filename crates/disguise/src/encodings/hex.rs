//! Hex digits of UTF-8 bytes.

use crate::text_pieces::TextPieces;

/// Longest group of digits that may continue the group before it, as in `6d 6b 34`.
const MAX_GROUP: usize = 8;

/// Encodes in lower case, without a prefix.
pub fn encode(text: &str) -> String {
    encode_bytes(text.as_bytes())
}

/// Decodes either case, with or without `0x`.
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = vec![];
    push_bytes(text.strip_prefix("0x").unwrap_or(text), &mut bytes)?;
    String::from_utf8(bytes).ok()
}

pub(crate) fn encode_bytes(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// Decodes hex numbers of a text, also in separate groups. Calldata yields the texts among its words.
pub(crate) fn read(text: &str) -> Option<String> {
    let mut pieces = TextPieces::default();
    let mut group = vec![];
    for token in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|token| !token.is_empty()) {
        let digits = token.strip_prefix("0x").or_else(|| token.strip_prefix('x')).unwrap_or(token);
        if digits.len() > MAX_GROUP {
            pieces.add_bytes(&std::mem::take(&mut group));
        }
        let read = push_bytes(digits, &mut group);
        if read.is_none() || digits.len() > MAX_GROUP {
            pieces.add_bytes(&std::mem::take(&mut group));
        }
    }
    pieces.add_bytes(&group);
    pieces.finish()
}

/// Appends the bytes of an even number of digits; otherwise appends nothing.
fn push_bytes(digits: &str, bytes: &mut Vec<u8>) -> Option<()> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let value = |c: u8| char::from(c).to_digit(16).and_then(|value| u8::try_from(value).ok()).unwrap_or_default();
    bytes.extend(digits.as_bytes().chunks_exact(2).map(|pair| (value(pair[0]) << 4) | value(pair[1])));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_plain_grouped_and_in_calldata() {
        assert_eq!((encode("mké").as_str(), decode("0x6d6BC3A9").as_deref()), ("6d6bc3a9", Some("mké")));
        let word = encode("orchid-7");
        let grouped: Vec<&str> = word.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok()).collect();
        let texts = [
            format!("memo 0x{word}"),
            grouped.join(" "),
            grouped.join(":"),
            format!("\\x{}", grouped.join("\\x")),
            format!("0xa9059cbb{:0>64}{word}{:0>48}", "20", ""),
        ];
        for text in texts {
            assert_eq!(read(&text).as_deref(), Some("orchid-7"), "{text}");
        }
    }

    #[test]
    fn numbers_and_addresses_are_no_hex_text() {
        for text in ["10 20 30 40 50", "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", "in 2026, 250 USDC", "abc"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!((decode("6d6"), decode("zz")), (None, None));
    }
}
