//! Patterns written for JavaScript. Those that mean the same to the Rust regex crate on ASCII texts are searched here, in linear time;
//! the others are left to a JavaScript engine.

use regex::{Regex, RegexBuilder};

/// Maximum bytes of a compiled pattern.
const MAX_COMPILED: usize = 1 << 20;

#[derive(Debug, Clone)]
pub struct EcmaPattern {
    source: String,
    compiled: Option<Regex>,
}

impl EcmaPattern {
    pub fn new(source: &str) -> Self {
        let portable = is_portable(source);
        let compiled = portable.then(|| RegexBuilder::new(source).size_limit(MAX_COMPILED).nest_limit(50).build().ok()).flatten();
        Self { source: source.to_owned(), compiled }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether the pattern is found in the text; `None` if only a JavaScript engine can say so.
    pub fn is_match(&self, text: &str) -> Option<bool> {
        // `\w`, `.` and their like differ beyond ASCII, and `.` matches a carriage return only in Rust.
        let same = text.is_ascii() && !text.contains('\r');
        self.compiled.as_ref().filter(|_| same).map(|compiled| compiled.is_match(text))
    }
}

/// Returns whether a pattern uses only what both engines read alike.
fn is_portable(source: &str) -> bool {
    let bytes = source.as_bytes();
    let (mut at, mut in_class) = (0, false);
    while at < bytes.len() {
        let next = bytes.get(at + 1).copied();
        match bytes[at] {
            b'\\' => {
                let same = match next {
                    Some(b'b' | b'B') => !in_class,
                    Some(b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'n' | b'r' | b't' | b'f' | b'v') => true,
                    Some(other) => b".\\/^$*+?()[]{}|-\"'".contains(&other),
                    None => false,
                };
                if !same {
                    return false;
                }
                at += 1;
            }
            b'[' if in_class => return false,
            b'[' => {
                in_class = true;
                // An empty class, and one that begins with a bracket, differ.
                if matches!(next, Some(b']')) || source[at..].starts_with("[^]") {
                    return false;
                }
            }
            b']' if in_class => in_class = false,
            b']' => return false,
            b'&' | b'-' | b'~' if in_class && next == Some(bytes[at]) => return false,
            b'(' if !in_class && next == Some(b'?') && bytes.get(at + 2) != Some(&b':') => return false,
            _ => {}
        }
        at += 1;
    }
    source.is_ascii() && !in_class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_patterns_are_searched_here() {
        for (source, text, found) in
            [("^a.c$", "abc", true), ("\\d{2,}", "a1", false), ("[a-z\\-]+@x", "q-w@x", true), ("(?:a|b)c", "bc", true)]
        {
            assert_eq!(EcmaPattern::new(source).is_match(text), Some(found), "{source}");
        }
    }

    #[test]
    fn patterns_of_javascript_alone_are_left_to_it() {
        for source in ["(?=a)", "(a)\\1", "[[:alpha:]]", "[a&&b]", "\\Aa", "\\p{L}", "(?i)a", "(?<n>a)", "a{", "(", "[]a]", "\\u{41}", "é"]
        {
            assert_eq!(EcmaPattern::new(source).is_match("a"), None, "{source}");
        }
        assert_eq!(EcmaPattern::new("^.$").is_match("é"), None);
        assert_eq!(EcmaPattern::new("^.$").is_match("\r"), None);
    }
}
