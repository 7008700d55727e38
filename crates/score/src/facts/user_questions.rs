//! Questions to the user: a question asked as such, and one put in the words of a plain answer.

use crate::json_answer::parse_json_answer;
use lexical::{asks, has_question_mark, questions, sentences};
use model::{Event, EventKind};
use serde_json::Value;
use std::borrow::Cow;

/// Returns the words of an event that ask the user for something, also those in the fields of an answer in JSON.
pub(crate) fn question_in(event: &Event) -> Option<Cow<'_, str>> {
    plain_question_in(event).or_else(|| {
        let EventKind::Said { text } = &event.happened else { return None };
        let answer = if text.contains(['?', '？', '؟']) { parse_json_answer(text)? } else { return None };
        joined(strings(&answer).into_iter().flat_map(questions).filter(|sentence| has_question_mark(sentence)).collect())
    })
}

/// Returns the words of an event that ask the user in plain text. Of a plain answer these are the sentences that ask, so that what it
/// mentions beside them is no question.
pub(crate) fn plain_question_in(event: &Event) -> Option<Cow<'_, str>> {
    if let EventKind::Asked { text } = &event.happened {
        return Some(Cow::Borrowed(text));
    }
    let EventKind::Said { text } = &event.happened else { return None };
    if is_form(text) { None } else { joined(questions(text)) }
}

/// Reports whether an event asks the user for something.
pub(crate) fn asks_user(event: &Event) -> bool {
    question_in(event).is_some()
}

/// Reports whether a plain answer is a question: its last sentence asks.
pub(crate) fn is_plain_question(text: &str) -> bool {
    !is_form(text) && sentences(text).last().is_some_and(|last| asks(last))
}

/// Reports whether a text looks like an answer in the form of an agent.
fn is_form(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '`'])
}

fn joined(questions: Vec<String>) -> Option<Cow<'static, str>> {
    (!questions.is_empty()).then(|| Cow::Owned(questions.join(" ")))
}

/// Clauses that a colon, semicolon or dash separates.
const CLAUSE_MARKS: [char; 6] = [':', ';', '—', '–', '；', '：'];

/// Reports whether a question also states something: it has a sentence or clause that asks nothing.
pub(crate) fn states_beside_question(text: &str) -> bool {
    let is_statement = |clause: &str| !asks(clause) && (clause.split_whitespace().count() >= 3 || has_unspaced_words(clause));
    let clauses = |sentence: &String| sentence.split(CLAUSE_MARKS).map(str::trim).any(is_statement);
    sentences(text).iter().any(clauses)
}

/// Reports whether a clause of a script without spaces has the length of a statement.
fn has_unspaced_words(clause: &str) -> bool {
    clause.chars().filter(|letter| matches!(letter, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{9fff}')).count() >= 6
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Event {
        Event { n: 1, at_ms: 0, by: "trader".into(), depth: 0, happened: EventKind::Said { text: text.into() } }
    }

    #[test]
    fn only_the_sentences_that_ask_are_the_question() {
        let asked = |text: &str| question_in(&said(text)).map(Cow::into_owned);
        assert_eq!(asked("100 USDC on Base, fine. Which token do you want?").as_deref(), Some("Which token do you want?"));
        assert_eq!(asked("Please tell me the amount.").as_deref(), Some("Please tell me the amount."));
        assert_eq!(asked("Sold 100 USDC on Base."), None);
        assert_eq!(asked(r#"{"status": "waiting", "reason": "Base is fine. How much?"}"#).as_deref(), Some("How much?"));
        assert_eq!(asked(r#"{"status": "declined", "reason": "I need no amount."}"#), None);
    }

    #[test]
    fn question_ends_with_the_sentence_that_asks() {
        assert!(is_plain_question("The pool is new. Which one do you mean?"));
        assert!(!is_plain_question("Which one? Sold it all."));
        assert!(!is_plain_question(r#"{"status": "waiting", "reason": "Which one?"}"#));
    }

    #[test]
    fn bare_question_states_nothing() {
        for bare in
            ["Would you like me to go on with that?", "Which token, which amount, and on which chain?", "Sure? Really?", "OK. Shall I?"]
        {
            assert!(!states_beside_question(bare), "{bare}");
        }
        for stated in [
            "This is over the limit of 10,000. Shall I send 10,000?",
            "The pool is not listed — which one?",
            "この宛先は台帳にありません。別の宛先ですか？",
        ] {
            assert!(states_beside_question(stated), "{stated}");
        }
    }
}
