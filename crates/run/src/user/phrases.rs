//! Text analysis for personas: finds questions, permission requests and named values.

use lexical::{FoldMode, contains_phrase};
use std::collections::BTreeSet;

/// Reports whether a phrase occurs in a text as whole words, regardless of case and punctuation.
pub(super) fn mentions(text: &str, phrase: &str) -> bool {
    contains_phrase(text, phrase, FoldMode::Punctuation)
}

/// Phrases that ask without a question mark.
const REQUEST_PHRASES: [&str; 12] = [
    "please provide",
    "please tell",
    "please specify",
    "please confirm",
    "please share",
    "please give",
    "let me know",
    "tell me",
    "i need",
    "i still need",
    "could you",
    "can you",
];

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

/// Question marks of Latin, East Asian and Arabic text.
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// Returns the sentences that ask for something. If there are none and `asked` is set, returns the whole message.
pub(super) fn questions(text: &str, asked: bool) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for sentence in sentences(text) {
        if sentence.ends_with(QUESTION_MARKS) || REQUEST_PHRASES.iter().any(|request| mentions(&sentence, request)) {
            found.push(sentence);
        }
    }
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

/// Splits a text into sentences. A dot that is not followed by white space ("0.5") does not end one.
fn sentences(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut sentence = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        sentence.push(c);
        let ends = matches!(c, '.' | '!' | '?') && rest.peek().is_none_or(|next| next.is_whitespace());
        if ends || matches!(c, '\n' | '。' | '！' | '？' | '؟') {
            found.push(std::mem::take(&mut sentence).trim().to_owned());
        }
    }
    found.push(sentence.trim().to_owned());
    found.retain(|sentence| !sentence.is_empty());
    found
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
    fn questions_are_sentences_that_ask() {
        assert_eq!(questions("The fee is 0.3 percent. Which chain?", false), ["Which chain?"]);
        assert_eq!(questions("I need the amount. The chain is fine.", false), ["I need the amount."]);
        assert!(questions("Swapped the amount on the chain.", false).is_empty());
        assert_eq!(questions("Amount and chain", true), ["Amount and chain"]);
        assert_eq!(questions("手数料は0.3です。いくら交換しますか？", false), ["いくら交換しますか？"]);
        assert_eq!(questions("على أي شبكة؟", false), ["على أي شبكة؟"]);
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
