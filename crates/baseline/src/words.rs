//! Terms and stems as the baseline reads them: without the words of conversation.

use lexical::TermSplit;

pub(crate) fn terms(text: &str) -> Vec<String> {
    lexical::terms(text, TermSplit::Conversation)
}

pub(crate) fn stems(text: &str) -> Vec<String> {
    lexical::stems(text, TermSplit::Conversation)
}
