//! Readable pieces of decoded bytes.

/// Fewest characters of a decoding that is text as a whole.
const MIN_WHOLE: usize = 4;

/// Fewest characters of a text between other bytes. Random bytes contain shorter ones often.
const MIN_PIECE: usize = 6;

/// Collects decoded texts, separated by spaces.
#[derive(Debug, Default)]
pub(crate) struct TextPieces(String);

impl TextPieces {
    pub(crate) fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(text);
    }

    /// Adds bytes that are text, or else the texts among them. Returns whether they are text as a whole.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> bool {
        if let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| !text.contains(is_control)) {
            if text.chars().nth(MIN_WHOLE - 1).is_some() {
                self.add(text);
            }
            return true;
        }
        for chunk in bytes.utf8_chunks() {
            for piece in chunk.valid().split(is_control).map(str::trim).filter(|piece| piece.chars().nth(MIN_PIECE - 1).is_some()) {
                self.add(piece);
            }
        }
        false
    }

    pub(crate) fn finish(self) -> Option<String> {
        (!self.0.is_empty()).then_some(self.0)
    }
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_texts_between_other_bytes() {
        let mut pieces = TextPieces::default();
        assert!(!pieces.add_bytes(b"\x00\x01abc\x00secret word\xff\xfe"));
        assert!(pieces.add_bytes("né 1".as_bytes()));
        assert!(pieces.add_bytes(b"abc"));
        assert_eq!(pieces.finish().as_deref(), Some("secret word né 1"));
        assert_eq!(TextPieces::default().finish(), None);
    }
}
