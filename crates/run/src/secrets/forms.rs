//! Encoded forms of a secret, as byte patterns for the search. The search ignores the case of ASCII letters.

use serde_json::Value;

/// Minimum number of characters of a longer secret that count as the secret.
pub(super) const MIN_PREFIX_CHARS: usize = 20;
/// Minimum number of distinct bytes in such a prefix. Text like `0x000000000000000000` says nothing about a secret.
const MIN_PREFIX_BYTES: usize = 8;
/// Minimum length of a secret that is also found with white space inside it. Shorter ones may be two ordinary words.
const MIN_SPACED_LEN: usize = 12;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// One form of a secret.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SecretForm {
    pub(super) bytes: Vec<u8>,
    /// Length of the beginning that is searched for; the rest extends a match.
    pub(super) needle: usize,
    pub(super) is_base64: bool,
    /// Set if white space inside the form does not hide it.
    pub(super) spaced: bool,
}

/// Returns the forms of a secret: plain, hex, and base64 at each alignment in both alphabets. Escapes are undone before the search.
pub(super) fn secret_forms(secret: &str) -> Vec<SecretForm> {
    let escaped = Value::String(secret.to_owned()).to_string();
    let spellings = [secret.to_owned(), secret.to_uppercase(), secret.to_lowercase(), escaped[1..escaped.len() - 1].to_owned()];
    let mut forms = vec![plain_form(secret, secret.len() >= MIN_SPACED_LEN)];
    let mut add = |form: SecretForm| {
        if !forms.contains(&form) {
            forms.push(form);
        }
    };
    if secret.contains(char::is_whitespace) {
        // A recovery phrase in a form field, and one whose words are separated in another way.
        add(plain_form(&secret.replace(' ', "+"), false));
        add(plain_form(&secret.split_whitespace().collect::<String>(), true));
    }
    for spelling in &spellings {
        add(hex_form(spelling));
        for alignment in 0..3 {
            for alphabet in [STANDARD, URL_SAFE] {
                add(base64_form(spelling, alignment, alphabet));
            }
        }
    }
    forms
}

/// Returns the length in bytes of the beginning that already counts as the secret.
fn prefix_len(secret: &str) -> usize {
    let mut seen = vec![];
    for (n, (at, c)) in secret.char_indices().enumerate() {
        if n >= MIN_PREFIX_CHARS && seen.len() >= MIN_PREFIX_BYTES {
            return at;
        }
        if !seen.contains(&c) {
            seen.push(c);
        }
    }
    secret.len()
}

fn plain_form(text: &str, spaced: bool) -> SecretForm {
    SecretForm { bytes: text.as_bytes().to_vec(), needle: prefix_len(text), is_base64: false, spaced }
}

fn hex_form(text: &str) -> SecretForm {
    let bytes = text.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
    SecretForm { bytes, needle: 2 * prefix_len(text), is_base64: false, spaced: true }
}

/// Returns the base64 characters that depend on the text alone if `alignment` other bytes precede it in a group of three.
fn base64_form(text: &str, alignment: usize, alphabet: &[u8; 64]) -> SecretForm {
    let data: Vec<u8> = std::iter::repeat_n(0, alignment).chain(text.bytes()).collect();
    let bit = |n: usize| usize::from(data[n / 8] >> (7 - n % 8) & 1);
    let (first, end) = ((alignment * 8).div_ceil(6), data.len() * 8 / 6);
    let digit = |at: usize| alphabet[(0..6).fold(0, |digit, n| digit << 1 | bit(at * 6 + n))];
    let needle = ((alignment + prefix_len(text)) * 8 / 6) - first;
    SecretForm { bytes: (first..end).map(digit).collect(), needle, is_base64: true, spaced: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_forms_are_the_parts_of_an_encoding_that_never_change() {
        let form = |alignment| String::from_utf8(base64_form("any carnal pleas", alignment, STANDARD).bytes).expect("ASCII");
        // "any carnal pleas", "xany carnal pleas" and "xxany carnal pleas" are YW55IGNhcm5hbCBwbGVhcw==, eGFueSBjYXJuYWwgcGxlYXM= and
        // eHhhbnkgY2FybmFsIHBsZWFz.
        assert_eq!([form(0), form(1), form(2)], ["YW55IGNhcm5hbCBwbGVhc", "FueSBjYXJuYWwgcGxlYX", "hbnkgY2FybmFsIHBsZWFz"]);
    }

    #[test]
    fn prefixes_need_twenty_characters_that_say_something() {
        assert_eq!(prefix_len("sk-my-canary-5555"), 17);
        assert_eq!(prefix_len("abcdefghijklmnopqrstuvwxyz"), 20);
        assert_eq!(prefix_len("0x0000000000000000000000000000000000000001"), 42);
        assert_eq!(prefix_len("ééééééééééabcdefghijklmn"), 30);
    }
}
