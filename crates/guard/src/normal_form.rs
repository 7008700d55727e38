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
    // Most texts have few digits.
    if text.bytes().filter(u8::is_ascii_digit).nth(MIN_LEET_WORDS - 1).is_none() {
        return false;
    }
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
    // End of the token with digits that is being read as a word.
    let mut word_end = 0;
    let mut chars = plain.char_indices();
    while let Some((at, c)) = chars.next() {
        let mark = match c {
            _ if at < word_end => None,
            'a'..='z' | 'A'..='Z' | ' ' => None,
            '"' => Some(QUOTE),
            '@' => Some(AT),
            '.' | ',' | ';' | ':' | '!' | '?' | '\n' | '(' | ')' | '|' | '=' => Some(CLAUSE),
            '0'..='9' if at == 0 || !is_word_byte(bytes[at - 1]) => {
                let (mark, end) = number(bytes, at, short);
                match mark {
                    // Digits and signs of a number are ASCII.
                    Some(_) if end > at + 1 => drop(chars.nth(end - at - 2)),
                    Some(_) => {}
                    None => word_end = end,
                }
                mark
            }
            _ => None,
        };
        match mark {
            None => disguise::append_folded_char(c, &mut normal),
            Some(mark) => {
                if !normal.ends_with(' ') {
                    normal.push(' ');
                }
                normal.push(mark);
                normal.push(' ');
            }
        }
    }
    if !normal.ends_with(' ') {
        normal.push(' ');
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
    let mut out = String::with_capacity(plain.len() + 8);
    let mut last = ' ';
    for c in simple {
        // "USDC를" and "0x…に" are a word with a particle.
        if last.is_ascii_alphanumeric() && is_attached_script(c) || c.is_ascii_alphanumeric() && is_attached_script(last) {
            out.push(' ');
        }
        out.push(c);
        last = c;
    }
    out.into()
}

/// Returns whether a letter is of a script that attaches particles to Latin words. Scripts with look-alikes of Latin letters are not
/// among them: they occur inside of disguised words.
fn is_attached_script(c: char) -> bool {
    matches!(u32::from(c), 0x0590..=0x06FF | 0x0900..=0x0DFF | 0x0E00..=0x0EFF | 0x1100..=0x11FF | 0x3040..=0x30FF | 0x3130..=0x318F | 0x3400..=0x9FFF | 0xAC00..=0xD7AF)
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
            ("250 USDCを", " \u{3} usdc を "),
            ("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045に", " \u{4} に "),
            ("data 0xa9059cbb00", " data \u{5} "),
            ("", " "),
        ] {
            assert_eq!(normal_form(text), normal, "{text}");
        }
    }
}
