//! Terms and stems of a text, without conversational stop words.

use lexical::TermSplit;

pub(crate) fn terms(text: &str) -> Vec<String> {
    lexical::terms(text, TermSplit::Conversation)
}

pub(crate) fn stems(text: &str) -> Vec<String> {
    lexical::stems(text, TermSplit::Conversation)
}
