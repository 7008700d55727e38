//! Short forms of texts, for messages and reports.

/// Returns a text of at most `max_chars` characters: the text itself, or its beginning with an ellipsis.
pub fn shortened(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        text.to_owned()
    } else {
        text.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
    }
}

/// Returns the first 12 characters of an id, for display.
pub fn short_id(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::{short_id, shortened};

    #[test]
    fn texts_are_cut_at_characters() {
        assert_eq!(["abc", "abcd", "äöüß"].map(|text| shortened(text, 3)), ["abc", "ab…", "äö…"]);
        assert_eq!(["short", "0123456789abcdef"].map(short_id), ["short", "0123456789ab"]);
    }
}
