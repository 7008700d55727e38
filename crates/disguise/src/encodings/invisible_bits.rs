//! Bits as two kinds of invisible characters, eight per byte, highest first.

use crate::text_pieces::TextPieces;

/// Characters for 0 and 1.
const ALPHABETS: &[(char, char)] = &[('\u{2062}', '\u{2064}'), ('\u{200B}', '\u{200C}'), ('\u{200C}', '\u{200D}')];

/// Encodes with invisible times and invisible plus.
pub fn encode(text: &str) -> String {
    let (zero, one) = ALPHABETS[0];
    text.bytes().flat_map(|byte| (0..8).rev().map(move |bit| if byte >> bit & 1 == 1 { one } else { zero })).collect()
}

/// Returns the text of invisible times and invisible plus, ignoring other characters. Returns `None` if there are none.
pub fn decode(text: &str) -> Option<String> {
    String::from_utf8(decode_bytes(text, ALPHABETS[0])).ok().filter(|decoded| !decoded.is_empty())
}

/// Reads every pair of characters that is used for bits.
pub(crate) fn read(text: &str) -> Option<String> {
    let mut pieces = TextPieces::default();
    for alphabet in ALPHABETS {
        pieces.add_bytes(&decode_bytes(text, *alphabet));
    }
    pieces.finish()
}

fn decode_bytes(text: &str, (zero, one): (char, char)) -> Vec<u8> {
    let bits: Vec<u8> = text.chars().filter(|c| *c == zero || *c == one).map(|c| u8::from(c == one)).collect();
    bits.chunks_exact(8).map(|bits| bits.iter().fold(0, |byte, bit| (byte << 1) | bit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_decoded_amid_visible_text() {
        let hidden = encode("pay bøb");
        assert_eq!(decode(&format!("Hi{hidden} there")).as_deref(), Some("pay bøb"));
        let spaces: String = hidden.chars().map(|c| if c == '\u{2062}' { '\u{200B}' } else { '\u{200C}' }).collect();
        assert_eq!(read(&spaces).as_deref(), Some("pay bøb"));
        assert_eq!(read("zero\u{200B}width breaks\u{200B}in a long\u{200C} text"), None);
    }
}
