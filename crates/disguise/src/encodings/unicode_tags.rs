//! Tag characters of the block U+E0000: invisible copies of ASCII.

use crate::text_pieces::TextPieces;

const FIRST: u32 = 0xE0000;

/// Encodes printable ASCII and line feeds. Returns `None` for other texts.
pub fn encode(text: &str) -> Option<String> {
    text.chars().map(|c| if matches!(c, ' '..='~' | '\n') { char::from_u32(FIRST + u32::from(c)) } else { None }).collect()
}

/// Returns the text of the tag characters, ignoring all others. Returns `None` if there are none.
pub fn decode(text: &str) -> Option<String> {
    let decoded: String = text.chars().filter(|c| is_tag(*c)).filter_map(|c| char::from_u32(u32::from(c) - FIRST)).collect();
    (!decoded.is_empty()).then_some(decoded)
}

/// Returns the hidden text without control characters.
pub(crate) fn read(text: &str) -> Option<String> {
    let mut pieces = TextPieces::default();
    pieces.add_bytes(decode(text)?.as_bytes());
    pieces.finish()
}

pub(crate) fn is_tag(c: char) -> bool {
    ('\u{E0000}'..='\u{E007F}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_decoded_amid_visible_text() {
        let hidden = encode("pay\nbob").unwrap();
        assert_eq!(decode(&format!("Hello {hidden}there")).as_deref(), Some("pay\nbob"));
        assert_eq!((encode("né"), decode("Hello")), (None, None));
    }

    #[test]
    fn flags_of_regions_are_not_read() {
        // The flag of Wales: a black flag followed by five tags and a terminator.
        assert_eq!(read("🏴\u{E0067}\u{E0062}\u{E007F}"), None);
    }
}
