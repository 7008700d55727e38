//! Bytes as variation selectors behind a visible character.

use crate::text_pieces::TextPieces;

/// Encodes each byte as one of the 256 selectors.
pub fn encode(text: &str) -> String {
    let selector = |byte: u8| if byte < 16 { 0xFE00 + u32::from(byte) } else { 0xE0100 + u32::from(byte) - 16 };
    text.bytes().filter_map(|byte| char::from_u32(selector(byte))).collect()
}

/// Returns the text of the selectors, ignoring other characters. Returns `None` if there are none.
pub fn decode(text: &str) -> Option<String> {
    String::from_utf8(decode_bytes(text)).ok().filter(|decoded| !decoded.is_empty())
}

pub(crate) fn read(text: &str) -> Option<String> {
    let mut pieces = TextPieces::default();
    pieces.add_bytes(&decode_bytes(text));
    pieces.finish()
}

fn decode_bytes(text: &str) -> Vec<u8> {
    let byte = |c: char| match c {
        '\u{FE00}'..='\u{FE0F}' => u8::try_from(u32::from(c) - 0xFE00).ok(),
        '\u{E0100}'..='\u{E01EF}' => u8::try_from(u32::from(c) - 0xE0100 + 16).ok(),
        _ => None,
    };
    text.chars().filter_map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_decoded_amid_visible_text() {
        let hidden = encode("pay bøb");
        assert_eq!(decode(&format!("😀{hidden} nice")).as_deref(), Some("pay bøb"));
    }

    #[test]
    fn emoji_presentation_is_not_read() {
        assert_eq!(read("❤\u{FE0F} ✔\u{FE0F} ☀\u{FE0F} ☂\u{FE0F} ☎\u{FE0F}"), None);
    }
}
