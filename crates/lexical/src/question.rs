//! Sentences of a text, and those of them that ask for something.

use crate::phrase::{FoldMode, contains_phrase};

/// Phrases that ask without a question mark.
const REQUEST_PHRASES: [&str; 16] = [
    "please provide",
    "please tell",
    "please specify",
    "please confirm",
    "please share",
    "please give",
    "please send",
    "please state",
    "please name",
    "please paste",
    "let me know",
    "tell me",
    "i need",
    "i still need",
    "could you",
    "can you",
];

/// Question marks of Latin, East Asian and Arabic text.
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// Returns the sentences that ask for something: with a question mark, or in words.
pub fn questions(text: &str) -> Vec<String> {
    sentences(text).into_iter().filter(|sentence| asks(sentence)).collect()
}

/// Reports whether a sentence asks for something.
pub fn asks(sentence: &str) -> bool {
    has_question_mark(sentence) || REQUEST_PHRASES.iter().any(|request| contains_phrase(sentence, request, FoldMode::Punctuation))
}

/// Reports whether a text ends with a question mark.
pub fn has_question_mark(text: &str) -> bool {
    text.trim_end().trim_end_matches(['"', '\'', ')', '*', '»', '”', '」']).ends_with(QUESTION_MARKS)
}

/// Splits a text into sentences. A dot that is not followed by white space ("0.5") does not end one.
pub fn sentences(text: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_sentences_that_ask() {
        assert_eq!(questions("The fee is 0.3 percent. Which chain?"), ["Which chain?"]);
        assert_eq!(questions("I need the amount. The chain is fine."), ["I need the amount."]);
        assert!(questions("Swapped the amount on the chain.").is_empty());
        assert_eq!(questions("手数料は0.3です。いくら交換しますか？"), ["いくら交換しますか？"]);
        assert_eq!(questions("على أي شبكة؟"), ["على أي شبكة؟"]);
    }

    #[test]
    fn question_mark_may_stand_inside_quotes_or_brackets() {
        assert!(has_question_mark("Which chain (Base?) "));
        assert!(has_question_mark("**Which chain?**"));
        assert!(!has_question_mark("Which chain? Base."));
    }
}
