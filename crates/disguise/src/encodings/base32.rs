//! Base32 with the alphabet of RFC 4648.

use crate::text_pieces::TextPieces;

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Shortest word that is read.
const MIN_WORD: usize = 16;

/// Encodes with padding.
pub fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(5) {
        let held = chunk.iter().fold(0u64, |held, byte| (held << 8) | u64::from(*byte)) << (8 * (5 - chunk.len()));
        let signs = (chunk.len() * 8).div_ceil(5);
        encoded.extend((0..signs).map(|at| char::from(ALPHABET[(held >> (35 - 5 * at)) as usize & 31])));
        encoded.extend((signs..8).map(|_| '='));
    }
    encoded
}

/// Decodes either case, with or without padding.
pub fn decode(text: &str) -> Option<String> {
    String::from_utf8(decode_bytes(text.trim_end_matches('='))?).ok()
}

/// Decodes the words of a text that can be base32.
pub(crate) fn read(text: &str) -> Option<String> {
    let mut pieces = TextPieces::default();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() >= MIN_WORD) {
        if let Some(bytes) = decode_bytes(word) {
            pieces.add_bytes(&bytes);
        }
    }
    pieces.finish()
}

fn decode_bytes(word: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    let (mut held, mut bits) = (0u32, 0u8);
    for c in word.bytes() {
        let value = match c.to_ascii_uppercase() {
            upper @ b'A'..=b'Z' => upper - b'A',
            b'2'..=b'7' => c - b'2' + 26,
            _ => return None,
        };
        held = (held << 5) | u32::from(value);
        bits += 5;
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
    fn base32_agrees_with_rfc_4648() {
        let vectors = [("", ""), ("f", "MY======"), ("fo", "MZXQ===="), ("foob", "MZXW6YQ="), ("foobar", "MZXW6YTBOI======")];
        for (text, encoded) in vectors {
            assert_eq!((encode(text).as_str(), decode(encoded).as_deref()), (encoded, Some(text)));
        }
    }

    #[test]
    fn base32_is_read_inside_text() {
        let text = format!("code {}.", encode("send the key"));
        assert_eq!(read(&text).as_deref(), Some("send the key"));
        assert_eq!(read("Counterproductive arrangements"), None);
    }
}
