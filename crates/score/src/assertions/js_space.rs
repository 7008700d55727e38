//! White space as `\s` and `trim` of JavaScript mean it.

pub(super) fn is_js_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

pub(super) fn js_trim(text: &str) -> &str {
    text.trim_matches(is_js_space)
}

/// Returns the words of `text.trim().split(/\s+/)`; an empty text has one empty word.
pub(super) fn js_words(text: &str) -> Vec<&str> {
    let trimmed = js_trim(text);
    if trimmed.is_empty() { vec![""] } else { trimmed.split(is_js_space).filter(|word| !word.is_empty()).collect() }
}
