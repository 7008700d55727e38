//! Text analysis for personas: finds questions, permission requests and named values.

use lexical::{FoldMode, contains_phrase};
use std::collections::BTreeSet;

/// Reports whether a phrase occurs in a text as whole words, regardless of case and punctuation.
pub(super) fn mentions(text: &str, phrase: &str) -> bool {
    contains_phrase(text, phrase, FoldMode::Punctuation)
}

/// Phrases that ask for permission.
const PERMISSION_PHRASES: [&str; 14] = [
    "shall i",
    "should i",
    "may i",
    "can i",
    "do you want me to",
    "would you like me to",
    "go ahead",
    "proceed",
    "confirm",
    "is that right",
    "is this right",
    "is that correct",
    "is this correct",
    "okay to",
];

/// Returns the sentences that ask for something. If there are none and `asked` is set, returns the whole message.
pub(super) fn questions(text: &str, asked: bool) -> Vec<String> {
    let found = lexical::questions(text);
    if found.is_empty() && asked { vec![text.to_owned()] } else { found }
}

/// Words that open a question for a value.
const INTERROGATIVES: [&str; 7] = ["which", "what", "where", "who", "when", "whose", "how"];
/// Words that may precede them.
const LEADING_WORDS: [&str; 16] =
    ["on", "to", "from", "in", "at", "for", "with", "by", "of", "and", "or", "so", "ok", "okay", "then", "but"];
/// Phrases that ask leave for a question, not for an act.
const POLITE_OPENERS: [&str; 4] = ["may i ask", "can i ask", "may i know", "can i know"];

/// Reports whether a question asks for consent. A question for a value does not, even if it says "should I".
pub(super) fn asks_permission(question: &str) -> bool {
    let asks_leave = POLITE_OPENERS.iter().any(|phrase| mentions(question, phrase));
    PERMISSION_PHRASES.iter().any(|phrase| mentions(question, phrase)) && !asks_leave && !opens_with_interrogative(question)
}

fn opens_with_interrogative(question: &str) -> bool {
    let words = question.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let first = words.into_iter().find(|word| !word.is_empty() && !LEADING_WORDS.contains(&word.as_str()));
    first.is_some_and(|word| INTERROGATIVES.contains(&word.as_str()))
}

/// Returns the values in a text: numbers, addresses and known names such as tokens and chains. Spelled-out numbers are not found.
pub(super) fn named_values(text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '/' | '(' | ')' | '"' | ';'));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    words.map(|word| without_separators(&word)).filter(|word| word.chars().any(|c| c.is_ascii_digit()) || known.contains(word)).collect()
}

/// Removes thousands separators: `1,000` and `1_000` become `1000`.
fn without_separators(word: &str) -> String {
    if word.starts_with(|c: char| c.is_ascii_digit()) { word.replace([',', '_'], "") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_message_asks_if_no_sentence_does() {
        assert_eq!(questions("The fee is 0.3 percent. Which chain?", true), ["Which chain?"]);
        assert!(questions("Swapped the amount on the chain.", false).is_empty());
        assert_eq!(questions("Amount and chain", true), ["Amount and chain"]);
    }

    #[test]
    fn question_for_a_value_is_no_request_for_consent() {
        for consent in ["Shall I proceed?", "Should I swap it, which costs 0.3 percent?", "Can I go ahead?", "Is that right?"] {
            assert!(asks_permission(consent), "{consent}");
        }
        for value in ["Which chain should I use?", "To what address should I send it?", "Where can I find it?", "May I ask which chain?"] {
            assert!(!asks_permission(value), "{value}");
        }
    }

    #[test]
    fn named_values_are_numbers_addresses_and_known_names() {
        let known = BTreeSet::from(["usdc".to_owned(), "base".to_owned()]);
        let named = named_values("Send 1,000 usdc (0.5%) on Base to 0xAbc1, please.", &known);
        assert_eq!(named.into_iter().collect::<Vec<_>>(), ["0.5", "0xabc1", "1000", "base", "usdc"]);
        assert!(named_values("I do not know.", &known).is_empty());
    }
}
