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
    if !fold_char(c, folded) && !is_invisible(c) && !folded.ends_with(' ') {
        folded.push(' ');
    }
}

/// Folded forms of the ASCII characters; 0 for those without one.
const ASCII: [u8; 128] = {
    let mut table = [0; 128];
    let mut code = 0;
    while code < 128 {
        let c = code as u8 as char;
        if c.is_ascii_alphanumeric() {
            table[code] = leet::letter(c.to_ascii_lowercase()) as u8;
        }
        code += 1;
    }
    table
};

/// Appends the folded form. Returns whether there is one.
fn fold_char(c: char, folded: &mut String) -> bool {
    // Most characters are ASCII, which looks like nothing else.
    let plain = if c.is_ascii() { c } else { look_alike(c) };
    if let Some(letter) = ASCII.get(plain as usize) {
        if *letter != 0 {
            folded.push(char::from(*letter));
        }
        return *letter != 0;
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
    fn ascii_looks_like_nothing_else() {
        for c in (0..128_u8).map(char::from) {
            assert_eq!(look_alike(c), c);
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
