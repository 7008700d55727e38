//! Folded text: lower case, without look-alikes, leetspeak and invisible characters.

use crate::encodings::leet;
use crate::invisible::is_invisible;
use crate::look_alikes::look_alike;

/// Returns only letters and digits, in lower case, with look-alikes and leetspeak digits replaced. Meant for comparison, not for display.
pub fn normalize(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        fold_char(c, &mut folded);
    }
    folded
}

/// Returns the words as [`normalize`] folds them, with one space before, between and after them.
pub(crate) fn fold_words(text: &str) -> String {
    let mut folded = String::from(" ");
    append_folded_words(text, &mut folded);
    folded
}

/// Appends the words as [`normalize`] folds them, with one space between and after them. The first word continues the last one, unless that
/// ends with a space.
pub fn append_folded_words(text: &str, folded: &mut String) {
    for c in text.chars() {
        append_folded_char(c, folded);
    }
    if !folded.ends_with(' ') {
        folded.push(' ');
    }
}

/// Appends a character as [`append_folded_words`] does: folded, or as a space if it separates words.
pub fn append_folded_char(c: char, folded: &mut String) {
    let is_word = match u8::try_from(c).ok().and_then(|byte| FOLDED_ASCII.get(usize::from(byte))) {
        Some(0) => false,
        Some(byte) => {
            folded.push(char::from(*byte));
            true
        }
        None => fold_char(c, folded) || is_invisible(c),
    };
    if !is_word && !folded.ends_with(' ') {
        folded.push(' ');
    }
}

/// Folded forms of ASCII characters; 0 for those that separate words.
const FOLDED_ASCII: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            table[byte as usize] = leet::letter(byte.to_ascii_lowercase() as char) as u8;
        }
        byte += 1;
    }
    table
};

/// Appends the folded form. Returns whether there is one.
fn fold_char(c: char, folded: &mut String) -> bool {
    let plain = look_alike(c);
    if plain.is_ascii() {
        if plain.is_ascii_alphanumeric() {
            folded.push(leet::letter(plain.to_ascii_lowercase()));
        }
        return plain.is_ascii_alphanumeric();
    }
    if is_invisible(plain) || !plain.is_alphanumeric() {
        return false;
    }
    // A capital may have no look-alike although its small letter has one, as П and п.
    for small in plain.to_lowercase().map(look_alike).filter(|c| c.is_alphanumeric()) {
        folded.push(leet::letter(small.to_ascii_lowercase()));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_folded_as_other_characters_are() {
        for c in (0..128_u8).map(char::from) {
            let (mut by_table, mut by_rule) = (String::new(), String::new());
            append_folded_char(c, &mut by_table);
            let is_word = fold_char(c, &mut by_rule);
            assert_eq!(by_table, if is_word { by_rule } else { " ".to_owned() }, "{c:?}");
        }
    }

    #[test]
    fn folding_ignores_case_look_alikes_and_separators() {
        for text in ["MK4X-Orchid", "m\u{200B}k4x orchid", "мkax_0rch1d", "ｍｋ４ｘ．ｏｒｃｈｉｄ"] {
            assert_eq!(normalize(text), "mkaxorchid", "{text}");
        }
        assert_eq!(fold_words("  2.50 USDC,\u{200B} ok"), " 2 so usdc ok ");
        assert_eq!((normalize("…"), fold_words("")), (String::new(), " ".to_owned()));
    }
}
