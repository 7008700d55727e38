//! Escapes untrusted text of files and agents for terminals, logs, tables, XML and JSON.

use std::borrow::Cow;

/// Starts of commands that runners of CI read anywhere in a line: GitHub, Azure Pipelines, TeamCity.
const COMMAND_STARTS: [&str; 3] = ["##[", "##vso[", "##teamcity["];
/// Start of a command of GitHub, which its runner reads after the white space at the start of a line.
const LINE_COMMAND_START: &str = "::";

/// Returns text for a cell of a Markdown table: no HTML, no links, no mentions, no further columns.
pub fn escape_cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in escape_control(text).chars() {
        match c {
            '&' => cell.push_str("&amp;"),
            '<' => cell.push_str("&lt;"),
            '>' => cell.push_str("&gt;"),
            '@' => cell.push_str("&#64;"),
            // A backslash of the text would take the effect from the one put before a bracket.
            '\\' | '|' | '[' | ']' | '`' => cell.extend(['\\', c]),
            _ => cell.push(c),
        }
    }
    // Addresses are links without any brackets.
    cell.replace("://", ":\\//").replace("www.", "www\\.")
}

/// Returns a code span of Markdown with this text, which no backtick in it ends.
pub fn markdown_code(text: &str) -> String {
    let text = escape_control(text);
    match text.split(|c: char| c != '`').map(str::len).max() {
        None | Some(0) => format!("`{text}`"),
        Some(longest) => {
            let fence = "`".repeat(longest + 1);
            format!("{fence} {text} {fence}")
        }
    }
}

/// Returns text with control, bidirectional and invisible characters escaped, so that it cannot steer a terminal or hide what it says, and
/// without the start of a workflow command.
pub fn escape_control(text: &str) -> String {
    let shown: String = text.chars().flat_map(|c| if is_hidden(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect();
    escape_commands(&shown)
}

/// Returns text that starts no workflow command. Any word may be wrapped to the start of a line, so none starts with `::`.
pub fn escape_commands(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut starts_word = true;
    for (at, c) in text.char_indices() {
        if starts_word && text[at..].starts_with(LINE_COMMAND_START) {
            shown.push('\\');
        }
        shown.push(c);
        starts_word = c.is_whitespace();
    }
    COMMAND_STARTS.iter().fold(shown, |text, start| text.replace(start, &start.replace('[', "\\[")))
}

/// Returns text with characters replaced that XML cannot represent or that hide what it says, and without the start of a workflow command;
/// line breaks stay.
pub fn replace_hidden(text: &str) -> String {
    let shown: String = text.chars().map(|c| if is_hidden(c) && c != '\n' { '\u{fffd}' } else { c }).collect();
    escape_commands(&shown)
}

/// Returns a JSON document with the same content, in which hidden characters and the start of a workflow command are escapes.
pub fn escape_json(document: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_hidden(c) && c != '\n';
    if !document.chars().any(is_escaped) && !COMMAND_STARTS.iter().any(|start| document.contains(start)) {
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
    Cow::Owned(COMMAND_STARTS.iter().fold(text, |text, start| text.replace(start, &start.replace('[', "\\u005b"))))
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
        let value = serde_json::json!({ "a\u{9b}": ["\u{7f}\u{202e}", "##[error]x", "##vso[task.complete]", "\u{e0041}", "Größe 多少\n"] });
        for document in [value.to_string(), format!("{value:#}\n")] {
            let escaped = escape_json(&document);
            assert!(!COMMAND_STARTS.iter().any(|start| escaped.contains(start)), "{escaped}");
            assert!(!escaped.chars().any(|c| is_hidden(c) && c != '\n'), "{escaped}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).expect("JSON"), value);
        }
        assert!(matches!(escape_json("{\"a\": \"Größe\"}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn workflow_commands_are_disarmed() {
        for escape in [replace_hidden, escape_control, escape_commands] {
            assert_eq!(escape("x ##[add-mask]y ##vso[z]"), "x ##\\[add-mask]y ##vso\\[z]");
            assert_eq!(escape("::error::a ::b\u{a0}::c d::e"), "\\::error::a \\::b\u{a0}\\::c d::e");
            assert_eq!(escape("  ::stop-commands::x"), "  \\::stop-commands::x");
            assert_eq!(escape(&escape("::x ##[y")), escape("::x ##[y"), "escaping twice is escaping once");
        }
        assert_eq!(replace_hidden("a\n ::b"), "a\n \\::b");
    }

    #[test]
    fn markup_is_disarmed_in_cells_and_code() {
        assert_eq!(escape_cell("<img src=x>[a](javascript:b) @all | `c`"), "&lt;img src=x&gt;\\[a\\](javascript:b) &#64;all \\| \\`c\\`");
        // Written with its own backslashes, the brackets would be markup again.
        assert_eq!(escape_cell("\\[a\\](b)"), "\\\\\\[a\\\\\\](b)");
        assert_eq!(escape_cell("https://x.y www.x.y"), "https:\\//x.y www\\.x.y");
        assert_eq!(markdown_code("a b"), "`a b`");
        assert_eq!(markdown_code("a``b`<i>"), "``` a``b`<i> ```");
    }
}
