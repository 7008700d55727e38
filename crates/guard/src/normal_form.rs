//! Normal form of a text for phrase search: compatible characters (NFKD) without accents and invisible characters, folded words, and marks
//! for what is not a word.

use icu_normalizer::DecomposingNormalizerBorrowed;
use std::borrow::Cow;

/// End of a clause: punctuation or a line break.
pub(crate) const CLAUSE: char = '\u{2}';
/// Number that is not part of a word.
pub(crate) const NUMBER: char = '\u{3}';
/// Address of 20 bytes.
pub(crate) const ADDRESS: char = '\u{4}';
/// Other hexadecimal number.
pub(crate) const CODE: char = '\u{5}';
/// Quotation mark.
pub(crate) const QUOTE: char = '\u{6}';
/// At sign.
pub(crate) const AT: char = '\u{7}';

/// Digits of an address.
const ADDRESS_DIGITS: usize = 40;

/// Combining accents. Marks of other scripts are parts of letters and stay.
const ACCENTS: std::ops::RangeInclusive<char> = '\u{300}'..='\u{36F}';

/// Longest number that stands for a word in leetspeak, as 70 for "to".
const MAX_LEET_DIGITS: usize = 2;
/// Fewest words with digits that make a text leetspeak.
const MIN_LEET_WORDS: usize = 4;

/// Reading of short numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShortNumbers {
    Numbers,
    LeetWords,
}

/// Returns whether so many words mix letters and digits that short numbers may be words as well.
pub(crate) fn is_leet(text: &str) -> bool {
    let mixes = |word: &&str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        digits > 0
            && digits < word.len()
            && word.len() <= 16
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !word.starts_with("0x")
    };
    text.split(|c: char| !c.is_alphanumeric()).filter(mixes).nth(MIN_LEET_WORDS - 1).is_some()
}

/// Returns the words of a text as [`disguise::normalize`] folds them, separated by spaces, with marks between them.
pub(crate) fn normal_form(text: &str) -> String {
    normal_form_with(text, ShortNumbers::Numbers)
}

/// Returns the normal form, with short numbers read as numbers or as words.
pub(crate) fn normal_form_with(text: &str, short: ShortNumbers) -> String {
    let plain = compatible_form(text);
    let bytes = plain.as_bytes();
    let mut normal = String::with_capacity(bytes.len() + bytes.len() / 8 + 2);
    normal.push(' ');
    // Start of the words that are not folded yet.
    let (mut start, mut at) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let (mark, end) = match byte {
            b'"' => (Some(QUOTE), at + 1),
            b'@' => (Some(AT), at + 1),
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\n' | b'(' | b')' | b'|' | b'=' => (Some(CLAUSE), at + 1),
            b'0'..=b'9' if at == 0 || !is_word_byte(bytes[at - 1]) => number(bytes, at, short),
            _ => (None, at + 1),
        };
        if let Some(mark) = mark {
            if start < at {
                disguise::append_folded_words(&plain[start..at], &mut normal);
            }
            normal.push(mark);
            normal.push(' ');
            start = end;
        }
        at = end;
    }
    if start < bytes.len() {
        disguise::append_folded_words(&plain[start..], &mut normal);
    }
    normal
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the mark of the token that starts with a digit, and its end. A token with letters may be leetspeak and has no mark.
fn number(bytes: &[u8], at: usize, short: ShortNumbers) -> (Option<char>, usize) {
    let token = bytes[at..].iter().take_while(|byte| is_word_byte(**byte)).count();
    let digits = &bytes[at..at + token];
    if let [b'0', b'x' | b'X', rest @ ..] = digits
        && rest.len() >= 8
        && rest.iter().all(u8::is_ascii_hexdigit)
    {
        return (Some(if rest.len() == ADDRESS_DIGITS { ADDRESS } else { CODE }), at + token);
    }
    if !digits.iter().all(u8::is_ascii_digit) {
        return (None, at + token);
    }
    let is_part = |place: usize| matches!(bytes[place], b'.' | b',' | b'\'') && bytes.get(place + 1).is_some_and(u8::is_ascii_digit);
    let mut end = at + token;
    while end < bytes.len() && (bytes[end].is_ascii_digit() || is_part(end)) {
        end += 1;
    }
    let is_word = short == ShortNumbers::LeetWords && end - at <= MAX_LEET_DIGITS;
    (if is_word { None } else { Some(NUMBER) }, end)
}

/// Returns the displayed characters in compatible forms, without accents. Quotation marks become `"`.
fn compatible_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let visible = disguise::strip_invisible(text);
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(&visible);
    let simple = plain.chars().filter(|c| !ACCENTS.contains(c)).map(|c| match c {
        '“' | '”' | '„' | '«' | '»' | '「' | '」' => '"',
        '。' | '、' | '।' | '،' | '؛' | '؟' | '—' | '–' => ';',
        '’' => '\'',
        _ => c,
    });
    simple.collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_other_things_marked() {
        for (text, normal) in [
            ("Send 1,250.5 USDC.", " send \u{3} usdc \u{2} "),
            ("to 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045!", " to \u{4} \u{2} "),
            ("53nd 7h15", " send this "),
            ("ｓｅｎｄ “now”", " send \u{6} now \u{6} "),
            ("s\u{336}e\u{336}nd, envía", " send \u{2} envia "),
            ("data 0xa9059cbb00", " data \u{5} "),
            ("", " "),
        ] {
            assert_eq!(normal_form(text), normal, "{text}");
        }
    }
}
