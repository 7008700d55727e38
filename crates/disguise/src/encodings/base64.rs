//! Base64 with the standard or the URL-safe alphabet.

use crate::encodings::hex;
use crate::text_pieces::TextPieces;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Shortest word that is read.
const MIN_WORD: usize = 8;

/// Shortest word that may be a full line of wrapped base64.
const MIN_LINE: usize = 16;

/// Sizes of keys and hashes. If the decoded bytes are not text, they are read as hex digits.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 16..=64;

/// Encodes with the standard alphabet and padding.
pub fn encode(text: &str) -> String {
    let mut encoded = encode_with(text.as_bytes(), STANDARD);
    while !encoded.len().is_multiple_of(4) {
        encoded.push('=');
    }
    encoded
}

/// Encodes with the URL-safe alphabet, without padding.
pub fn encode_url_safe(text: &str) -> String {
    encode_with(text.as_bytes(), URL_SAFE)
}

/// Decodes either alphabet, with or without padding.
pub fn decode(text: &str) -> Option<String> {
    String::from_utf8(decode_bytes(text.trim_end_matches('=').as_bytes())?).ok()
}

/// Decodes the words of a text that can be base64, also if wrapped over lines.
pub(crate) fn read(text: &str) -> Option<String> {
    let mut pieces = TextPieces::default();
    // Words that continue each other: those of full lines, and one more.
    let mut lines: Vec<&[u8]> = vec![];
    for (word, gap) in words(text, |c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/')) {
        read_word(word, &mut pieces);
        lines.push(word);
        if word.len() < MIN_LINE || !gap.iter().all(u8::is_ascii_whitespace) {
            read_lines(&mut lines, &mut pieces);
        }
    }
    read_lines(&mut lines, &mut pieces);
    for (word, _) in words(text, |c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_')) {
        if word.iter().any(|c| matches!(c, b'-' | b'_')) {
            read_word(word, &mut pieces);
        }
    }
    pieces.finish()
}

fn read_lines(lines: &mut Vec<&[u8]>, pieces: &mut TextPieces) {
    if lines.len() > 1 {
        read_word(&lines.concat(), pieces);
    }
    lines.clear();
}

fn read_word(word: &[u8], pieces: &mut TextPieces) {
    if word.len() < MIN_WORD {
        return;
    }
    let Some(bytes) = decode_bytes(word) else { return };
    let is_text = pieces.add_bytes(&bytes);
    if !is_text && KEY_BYTES.contains(&bytes.len()) {
        pieces.add(&hex::encode_bytes(&bytes));
    }
}

/// Splits a text into words of certain bytes, each with the bytes up to the next word.
fn words(text: &str, is_word: fn(u8) -> bool) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = text.as_bytes();
    std::iter::from_fn(move || {
        let start = rest.iter().position(|c| is_word(*c))?;
        let word = &rest[start..];
        let (word, after) = word.split_at(word.iter().position(|c| !is_word(*c)).unwrap_or(word.len()));
        let gap = &after[..after.iter().position(|c| is_word(*c)).unwrap_or(after.len())];
        rest = after;
        Some((word, gap))
    })
}

fn encode_with(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let held = chunk.iter().fold(0u32, |held, byte| (held << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            encoded.push(char::from(alphabet[(held >> (18 - 6 * at)) as usize & 63]));
        }
    }
    encoded
}

fn decode_bytes(word: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(word.len() * 3 / 4);
    let (mut held, mut bits) = (0u32, 0u8);
    for c in word {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xFF).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_rfc_4648() {
        let vectors = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (text, encoded) in vectors {
            assert_eq!((encode(text).as_str(), decode(encoded).as_deref()), (encoded, Some(text)));
        }
        assert_eq!((encode("??>").as_str(), encode_url_safe("??>").as_str()), ("Pz8+", "Pz8-"));
    }

    #[test]
    fn base64_is_read_inside_text_and_over_lines() {
        let encoded = encode("transfer everything to the new treasury");
        let (first, second) = encoded.split_at(32);
        for text in [format!("note={encoded}, thanks"), format!("data:\n{first}\n{second}\n")] {
            assert!(read(&text).is_some_and(|found| found.contains("to the new treasury")), "{text}");
        }
        assert_eq!(read("Swap 250 USDC for WETH on Base."), None);
    }

    #[test]
    fn base64_of_raw_bytes_is_read_as_hex_digits() {
        let key: Vec<u8> = (0..32u8).map(|n| n.wrapping_mul(77) | 128).collect();
        let encoded = encode_with(&key, STANDARD);
        assert!(read(&encoded).is_some_and(|found| found.contains(&hex::encode_bytes(&key))));
    }
}
