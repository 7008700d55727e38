//! Characters that are not displayed.

use crate::encodings::unicode_tags::is_tag;
use std::borrow::Cow;

/// Reports whether a character is never displayed: zero width, direction marks, variation selectors, tags, fillers.
pub fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    is_tag(c)
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{E0100}'..='\u{E01EF}')
}

/// Returns the displayed characters of a text.
pub fn strip_invisible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(is_invisible) {
        return text.into();
    }
    text.chars().filter(|c| !is_invisible(*c)).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_text_of_many_scripts_stays() {
        let text = "Überweise 5 € an 林さん, مرحبا, नमस्ते 👍";
        assert!(matches!(strip_invisible(text), Cow::Borrowed(same) if same == text));
        assert_eq!(strip_invisible("\u{202E}a\u{200B}b\u{FE0F}\u{E0041}c"), "abc");
    }
}
