//! Stop words: words that carry no topic.

/// Function words, ignored in tool files and in messages. Sorted.
#[rustfmt::skip]
const GRAMMAR: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by", "can", "do", "does",
    "each", "for", "from", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "may", "more", "no", "not", "of", "on",
    "one", "only", "or", "other", "per", "rather", "s", "so", "t", "than", "that", "the", "their", "them", "then", "this", "to", "use",
    "what", "when", "which", "with",
];

/// Pronouns, auxiliary verbs and courtesies, ignored in messages only. Sorted.
#[rustfmt::skip]
const CONVERSATION: &[&str] = &[
    "above", "actually", "again", "am", "anything", "because", "being", "below", "could", "did", "doing", "done", "either", "else",
    "every", "everything", "exactly", "few", "get", "give", "go", "going", "got", "had", "having", "he", "her", "here", "hers", "him",
    "his", "itself", "just", "let", "like", "ll", "look", "make", "me", "might", "most", "much", "must", "my", "need", "needs", "neither",
    "nor", "now", "off", "once", "our", "ours", "out", "over", "own", "please", "put", "quite", "re", "same", "say", "see", "she",
    "should", "some", "such", "take", "tell", "there", "these", "they", "thing", "those", "too", "under", "until", "up", "us", "ve",
    "very", "want", "was", "we", "were", "where", "whether", "while", "who", "whose", "why", "will", "would", "yes", "yet", "you", "your",
    "yours",
];

/// Selection of stop words to ignore in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopWords {
    /// Function words only: `get` and `make` distinguish tool names.
    Grammar,
    /// Function words and words of conversation.
    Conversation,
}

impl StopWords {
    /// Reports whether a lower-case word is a stop word.
    pub(crate) fn contains(self, lower: &str) -> bool {
        let has = |list: &[&str]| list.binary_search(&lower).is_ok();
        match self {
            Self::Grammar => has(GRAMMAR),
            Self::Conversation => has(GRAMMAR) || has(CONVERSATION),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_word_lists_are_sorted_and_disjoint() {
        for list in [GRAMMAR, CONVERSATION] {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
        }
        assert!(!CONVERSATION.iter().any(|word| GRAMMAR.contains(word)));
    }

    #[test]
    fn get_is_a_stop_word_in_conversation_only() {
        assert!(StopWords::Conversation.contains("get") && !StopWords::Grammar.contains("get"));
        assert!(StopWords::Conversation.contains("the") && StopWords::Grammar.contains("the"));
        assert!(!StopWords::Conversation.contains("swap"));
    }
}
