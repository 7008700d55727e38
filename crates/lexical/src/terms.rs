//! Tokeniser for indexes: lower-case words of names and prose, without stop words and numbers.

use crate::stem::stem;
use crate::stop_words::StopWords;

/// Rules for splitting a text into terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermSplit {
    /// For comparing names and descriptions: `get` is a term, and `agent's` becomes `agent`.
    Catalogue,
    /// For texts searched with messages: words of conversation are dropped, and `don't` is one word.
    Conversation,
}

impl TermSplit {
    fn is_letter(self, letter: char) -> bool {
        letter.is_alphanumeric() || (letter == '\'' && self == Self::Conversation)
    }

    fn is_term(self, word: &str) -> bool {
        let stop_words = match self {
            Self::Catalogue => StopWords::Grammar,
            Self::Conversation => StopWords::Conversation,
        };
        !stop_words.contains(word) && !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'\'')
    }
}

/// Splits a snake_case, kebab-case or camelCase name or a text into lower-case words, without stop words and numbers.
pub fn terms(text: &str, split: TermSplit) -> Vec<String> {
    let mut found = vec![];
    let mut word = String::new();
    let mut after_lower = false;
    for letter in text.chars().chain([' ']) {
        let starts_hump = letter.is_uppercase() && after_lower;
        if (!split.is_letter(letter) || starts_hump) && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if split.is_letter(letter) {
            word.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase();
    }
    found.retain(|word| split.is_term(word));
    found
}

/// Returns the stems of [`terms`].
pub fn stems(text: &str, split: TermSplit) -> Vec<String> {
    terms(text, split).iter().map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_prose_give_the_same_terms() {
        let of = |text| terms(text, TermSplit::Conversation);
        assert_eq!(of("pool_get_lpFees V3"), ["pool", "lp", "fees", "v3"]);
        assert_eq!(of("Get the LP fees, per pool."), ["lp", "fees", "pool"]);
        assert_eq!(stems("Swaps the tokens", TermSplit::Conversation), ["swap", "token"]);
        assert!(of("- a _ 1 ").is_empty());
    }

    #[test]
    fn catalogue_terms_keep_verbs_and_drop_possessives() {
        let of = |text| terms(text, TermSplit::Catalogue);
        assert_eq!(of("uniswap_get_lpFees V3"), ["uniswap", "get", "lp", "fees", "v3"]);
        assert_eq!(of("The agent's wallet"), ["agent", "wallet"]);
        assert_eq!(terms("The agent's wallet", TermSplit::Conversation), ["agent's", "wallet"]);
        assert!(of("- a _ 1 ").is_empty());
    }
}
