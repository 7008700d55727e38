//! The tokeniser of names and prose: lower-case words without stop words and numbers, for indexes.

use crate::stem::stem;
use crate::stop_words::StopWords;

/// Splits a snake_case, kebab-case or camelCase name or a text into lower-case words, without stop words and numbers.
pub fn terms(text: &str, stop_words: StopWords) -> Vec<String> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '\'';
    let mut found = vec![];
    let mut word = String::new();
    let mut after_lower = false;
    for letter in text.chars().chain([' ']) {
        let starts_hump = letter.is_uppercase() && after_lower;
        if (!is_letter(letter) || starts_hump) && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if is_letter(letter) {
            word.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase();
    }
    found.retain(|word| !stop_words.contains(word) && !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'\''));
    found
}

/// Returns the stems of [`terms`].
pub fn stems(text: &str, stop_words: StopWords) -> Vec<String> {
    terms(text, stop_words).iter().map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_prose_give_the_same_terms() {
        let of = |text| terms(text, StopWords::Conversation);
        assert_eq!(of("pool_get_lpFees V3"), ["pool", "lp", "fees", "v3"]);
        assert_eq!(of("Get the LP fees, per pool."), ["lp", "fees", "pool"]);
        assert_eq!(terms("uniswap_get_lpFees V3", StopWords::Grammar), ["uniswap", "get", "lp", "fees", "v3"]);
        assert_eq!(stems("Swaps the tokens", StopWords::Conversation), ["swap", "token"]);
        assert!(of("- a _ 1 ").is_empty());
    }
}
