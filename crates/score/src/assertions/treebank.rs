//! Splits a text into tokens as the Penn Treebank does, with the rules of js-rouge: punctuation and contractions are tokens of their own.

use regex::Regex;
use std::sync::LazyLock;

macro_rules! pattern {
    ($source:expr) => {
        LazyLock::new(|| Regex::new($source).unwrap_or_else(|why| unreachable!("{why}")))
    };
}

static SPACE: LazyLock<Regex> = pattern!(r"[\s\u{85}\u{feff}]+");
static ELLIPSIS: LazyLock<Regex> = pattern!(r"\.{3}");
static SIGNS: LazyLock<Regex> = pattern!(r"[;@#$%&]");
static FINAL_POINT: LazyLock<Regex> = pattern!(r"([^.])(\.)([\])}>'\s]*)$");
static MARKS: LazyLock<Regex> = pattern!(r"[?!]");
static BRACKETS: LazyLock<Regex> = pattern!(r"[\]\[(){}<>]");
static DASHES: LazyLock<Regex> = pattern!("--");
static CLOSING_QUOTE: LazyLock<Regex> = pattern!("([^'])' ");
static SHORT_ENDINGS: LazyLock<Regex> = pattern!("'([sSmMdD]) ");
static ENDINGS: LazyLock<Regex> = pattern!("('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ");
static CONTRACTIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let sources =
        ["(can)(not)", "(d)('ye)", "(gim)(me)", "(gon)(na)", "(got)(ta)", "(lem)(me)", "(more)('n)", "(wan)(na)", "('t)(is)", "('t)(was)"];
    sources.iter().map(|source| Regex::new(&format!("(?i){source}")).unwrap_or_else(|why| unreachable!("{why}"))).collect()
});

pub(super) fn treebank_tokens(text: &str) -> Vec<String> {
    let text = SPACE.replace_all(text, " ").trim().to_owned();
    if text.is_empty() {
        return vec![];
    }
    let mut text = quotes(&text);
    text = ELLIPSIS.replace_all(&text, " ... ").into_owned();
    text = separators(&text);
    text = SIGNS.replace_all(&text, " $0 ").into_owned();
    text = final_point(&text);
    text = MARKS.replace_all(&text, " $0 ").into_owned();
    text = BRACKETS.replace_all(&text, " $0 ").into_owned();
    text = DASHES.replace_all(&text, " -- ").into_owned();
    text = format!(" {text} ");
    text = CLOSING_QUOTE.replace_all(&text, "$1 ' ").into_owned();
    text = SHORT_ENDINGS.replace_all(&text, " '$1 ").into_owned();
    text = ENDINGS.replace_all(&text, " $1 ").into_owned();
    for contraction in CONTRACTIONS.iter() {
        text = split_contraction(&text, contraction);
    }
    text.split(' ').filter(|token| !token.is_empty()).map(str::to_owned).collect()
}

/// Writes opening quotes as two backticks and closing ones as two apostrophes, each between spaces.
fn quotes(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mark_at = |at: usize| match (chars.get(at), chars.get(at + 1)) {
        (Some('`'), Some('`')) => Some("``"),
        (Some('\''), Some('\'')) => Some("''"),
        (Some('"'), _) => Some("\""),
        _ => None,
    };
    let (mut out, mut open, mut at) = (String::new(), false, 0);
    while at < chars.len() {
        let Some(mark) = mark_at(at) else {
            out.push(chars[at]);
            at += 1;
            continue;
        };
        let before = at.checked_sub(1).map(|before| chars[before]);
        let end = at + mark.len();
        let may_open = (end < chars.len() || at == 0 || before.is_some_and(|c| c.is_whitespace() || "([{<".contains(c)))
            && !open
            && before.is_none_or(|c| c.is_whitespace() || is_punctuation(c) || c == '<')
            && !before.is_some_and(|c| ".!?".contains(c));
        let next_mark = || (end..chars.len()).find_map(mark_at);
        let pairs = mark == "\""
            || (at > 0 && chars.get(at + 2).is_some_and(|c| c.is_alphanumeric() || "$£€¥([{".contains(*c)) && next_mark() == Some("''"));
        open = mark == "``" || (may_open && pairs);
        out.push_str(if open { " `` " } else { " '' " });
        at = end;
    }
    out
}

fn is_punctuation(c: char) -> bool {
    (c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c)) || ('\u{2010}'..='\u{2027}').contains(&c) || "¡¿«»§¶·".contains(c)
}

/// Puts spaces around colons and commas that no digit follows.
fn separators(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if matches!(c, ':' | ',') && !chars.peek().is_some_and(|next| next.is_numeric()) {
            out.extend([' ', c, ' ']);
        } else {
            out.push(c);
        }
    }
    out
}

/// Separates the point at the end, unless it ends an abbreviation such as `u.s.`.
fn final_point(text: &str) -> String {
    let Some(found) = FINAL_POINT.captures(text) else { return text.to_owned() };
    let point = found.get(2).map_or(0, |point| point.start());
    let before: Vec<char> = text[..point].chars().rev().take(4).collect();
    let abbreviation = matches!(before.as_slice(), [a, '.', b, rest @ ..] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic()
        && !rest.first().is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_'));
    if abbreviation { text.to_owned() } else { FINAL_POINT.replace(text, "$1 $2$3 ").into_owned() }
}

fn split_contraction(text: &str, contraction: &Regex) -> String {
    let mut out = String::new();
    let mut copied = 0;
    let word = |c: char| c.is_alphanumeric() || c == '_';
    for found in contraction.captures_iter(text) {
        let (Some(whole), Some(first), Some(second)) = (found.get(0), found.get(1), found.get(2)) else { continue };
        let alone = !text[..whole.start()].chars().next_back().is_some_and(word) && !text[whole.end()..].chars().next().is_some_and(word);
        let wanna = second.as_str().eq_ignore_ascii_case("na") && first.as_str().eq_ignore_ascii_case("wan");
        if alone && (!wanna || text[whole.end()..].starts_with(' ')) {
            out.push_str(&text[copied..whole.start()]);
            out.push_str(&format!(" {} {} ", first.as_str(), second.as_str()));
            copied = whole.end();
        }
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_and_contractions_are_tokens() {
        for (text, expected) in [
            ("hello world.", "hello|world|."),
            ("i can't, it's 1,000", "i|ca|n't|,|it|'s|1,000"),
            ("say \"yes\" in the u.s.", "say|``|yes|''|in|the|u.s."),
            ("you cannot [go]", "you|can|not|[|go|]"),
        ] {
            assert_eq!(treebank_tokens(text).join("|"), expected);
        }
    }
}
