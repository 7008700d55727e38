//! Escapes untrusted text of files and agents for terminals, logs, tables, XML and JSON.

use std::borrow::Cow;

/// Returns text for a cell of a Markdown table: no HTML, no links, no mentions, no further columns.
pub fn escape_cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in escape_control(text).chars() {
        match c {
            '&' => cell.push_str("&amp;"),
            '<' => cell.push_str("&lt;"),
            '>' => cell.push_str("&gt;"),
            '@' => cell.push_str("&#64;"),
            '|' | '[' | ']' | '`' => cell.extend(['\\', c]),
            _ => cell.push(c),
        }
    }
    cell
}

/// Returns text with control, bidirectional and invisible characters escaped, so that it cannot steer a terminal or hide what it says, and
/// without the start of a workflow command that runners of CI read anywhere in a line.
pub fn escape_control(text: &str) -> String {
    let shown: String = text.chars().flat_map(|c| if is_hidden(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect();
    shown.replace("##[", "##\\[")
}

/// Returns text with characters replaced that XML cannot represent or that hide what it says, and without the start of a workflow command;
/// line breaks stay.
pub fn replace_hidden(text: &str) -> String {
    let shown: String = text.chars().map(|c| if is_hidden(c) && c != '\n' { '\u{fffd}' } else { c }).collect();
    shown.replace("##[", "##\\[")
}

/// Returns a JSON document with the same content, in which hidden characters and the start of a workflow command are escapes.
pub fn escape_json(document: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_hidden(c) && c != '\n';
    if !document.chars().any(is_escaped) && !document.contains("##[") {
        return Cow::Borrowed(document);
    }
    // Outside of strings, JSON has neither of them.
    let mut text = String::with_capacity(document.len());
    for c in document.chars() {
        if is_escaped(c) {
            let mut units = [0; 2];
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    Cow::Owned(text.replace("##[", "##\\u005b"))
}

/// Reports whether a character is not visible as itself: controls, marks of direction, characters without width, and non-characters.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(escape_control("a\u{202e}b\u{200b}c\u{1b}[31m\u{9b}\u{7f}"), "a\\u{202e}b\\u{200b}c\\u{1b}[31m\\u{9b}\\u{7f}");
        assert_eq!(escape_control("Größe 多少 – ok"), "Größe 多少 – ok");
        assert_eq!(replace_hidden("a\u{fffe}b\nc\u{ffff}"), "a\u{fffd}b\nc\u{fffd}");
    }

    #[test]
    fn escaped_json_has_the_same_content() {
        let value = serde_json::json!({ "a\u{9b}": ["\u{7f}\u{202e}", "##[error]x", "\u{e0041}", "Größe 多少\n"] });
        for document in [value.to_string(), format!("{value:#}\n")] {
            let escaped = escape_json(&document);
            assert!(!escaped.contains("##[") && !escaped.chars().any(|c| is_hidden(c) && c != '\n'), "{escaped}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).expect("JSON"), value);
        }
        assert!(matches!(escape_json("{\"a\": \"Größe\"}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn workflow_commands_and_markup_are_disarmed() {
        assert_eq!(replace_hidden("x ##[add-mask]y"), "x ##\\[add-mask]y");
        assert_eq!(escape_control("x ##[add-mask]y"), "x ##\\[add-mask]y");
        assert_eq!(escape_cell("<img src=x>[a](javascript:b) @all | `c`"), "&lt;img src=x&gt;\\[a\\](javascript:b) &#64;all \\| \\`c\\`");
    }
}
