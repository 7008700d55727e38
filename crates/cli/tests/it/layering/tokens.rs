//! Splits Rust source into the few tokens that paths are made of; comments, strings and the rest are dropped.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RustToken {
    Word(String),
    /// `::`
    Path,
    Mark(char),
}

/// Returns the tokens of a source file.
pub(super) fn tokens(text: &str) -> Vec<RustToken> {
    let letters: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (vec![], 0);
    while at < letters.len() {
        let (token, next) = token(&letters, at);
        found.extend(token);
        at = next;
    }
    found
}

fn token(text: &[char], at: usize) -> (Option<RustToken>, usize) {
    let next = text.get(at + 1);
    match text[at] {
        '/' if next == Some(&'/') => (None, after(text, at, |rest| rest[0] == '\n')),
        '/' if next == Some(&'*') => (None, after(text, at + 2, |rest| rest.starts_with(&['*', '/'])) + 2),
        '"' => (None, after_string(text, at + 1)),
        'r' | 'b' if raw_string(text, at).is_some() => (None, raw_string(text, at).unwrap_or(at + 1)),
        '\'' => (None, after_quote(text, at)),
        ':' if next == Some(&':') => (Some(RustToken::Path), at + 2),
        c if c.is_alphabetic() || c == '_' => {
            let end = after(text, at, |rest| !rest[0].is_alphanumeric() && rest[0] != '_');
            (Some(RustToken::Word(text[at..end].iter().collect())), end)
        }
        c if c.is_whitespace() => (None, at + 1),
        c => (Some(RustToken::Mark(c)), at + 1),
    }
}

/// Returns the first index from `at` on where the rest of the text is as wanted.
fn after(text: &[char], at: usize, wanted: impl Fn(&[char]) -> bool) -> usize {
    (at..text.len()).find(|index| wanted(&text[*index..])).unwrap_or(text.len())
}

fn after_string(text: &[char], mut at: usize) -> usize {
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the index after a raw or byte string that starts here.
fn raw_string(text: &[char], at: usize) -> Option<usize> {
    if at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_') {
        return None;
    }
    let prefix = after(text, at, |rest| !matches!(rest[0], 'r' | 'b'));
    let quote = after(text, prefix, |rest| rest[0] != '#');
    if prefix - at > 2 || text.get(quote) != Some(&'"') {
        return None;
    }
    if !text[at..prefix].contains(&'r') {
        return Some(after_string(text, quote + 1));
    }
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', quote - prefix)).collect();
    Some(after(text, quote + 1, |rest| rest.starts_with(&end)) + end.len())
}

/// Returns the index after a character literal, or after the mark of a lifetime.
fn after_quote(text: &[char], at: usize) -> usize {
    match (text.get(at + 1), text.get(at + 2)) {
        (Some('\\'), _) => after(text, at + 3, |rest| rest[0] == '\'') + 1,
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}
