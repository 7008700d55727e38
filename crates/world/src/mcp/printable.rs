//! Escapes and truncates untrusted text for printing.

/// Returns at most `max` characters of `text`, with control and bidirectional characters escaped.
pub(crate) fn printable(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut chars = text.trim().chars();
    for c in chars.by_ref().take(max) {
        if is_unprintable(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Like [`printable`], but keeps line breaks, for the stderr of a process.
pub(super) fn printable_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| printable(line, usize::MAX)).collect();
    lines.join("\n").trim().to_owned()
}

// `char::is_control` does not include bidirectional controls, which reorder the displayed text.
fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{printable, printable_lines};

    #[test]
    fn control_and_bidi_characters_are_escaped() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c\n", 50), "a\\u{1b}[2Jb\\u{202e}c");
    }

    #[test]
    fn long_text_is_truncated_with_ellipsis() {
        assert_eq!(printable("äöüß", 3), "äöü…");
        assert_eq!(printable("äöü", 3), "äöü");
    }

    #[test]
    fn printable_lines_keeps_line_breaks() {
        assert_eq!(printable_lines("one\r\n\u{7}two\n\n"), "one\n\\u{7}two");
    }
}
