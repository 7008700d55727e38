//! Phrase search: whole words, regardless of case and spacing.

/// Characters ignored when texts are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldMode {
    /// Whitespace only: `execute-swap` differs from `execute swap`.
    Spacing,
    /// Whitespace and punctuation, underscores included.
    Punctuation,
}

/// Returns the text in lower case, with one space in place of each run of folded characters.
pub fn fold(text: &str, fold: FoldMode) -> String {
    let lower = text.to_lowercase();
    let is_folded = |c: char| match fold {
        FoldMode::Spacing => c.is_whitespace(),
        FoldMode::Punctuation => !c.is_alphanumeric(),
    };
    lower.split(is_folded).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Reports whether a phrase occurs in a text as whole words. An empty phrase never does.
pub fn contains_phrase(text: &str, phrase: &str, folding: FoldMode) -> bool {
    let (text, phrase) = (fold(text, folding), fold(phrase, folding));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !phrase.is_empty()
        && text.match_indices(&phrase).any(|(start, found)| {
            let before = text[..start].chars().next_back();
            let after = text[start + found.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_matches_whole_words_only() {
        let says = |text, phrase| contains_phrase(text, phrase, FoldMode::Spacing);
        assert!(says("Please use Swap_Get_Quote, now", "swap_get_quote"));
        assert!(says("please swap  get\nquote", "swap get quote"));
        assert!(!says("swap_get_quotes", "swap_get_quote"));
        assert!(!says("my_swap_get_quote", "swap_get_quote"));
        assert!(says("Über execute-swap.", "execute-swap"));
        assert!(!says("anything", ""));
    }

    #[test]
    fn punctuation_can_be_folded() {
        let says = |text, phrase| contains_phrase(text, phrase, FoldMode::Punctuation);
        assert!(says("Which chain, please?", "chain please"));
        assert!(says("Shall I — go ahead?", "go ahead"));
        assert!(!says("blockchain", "chain"));
        assert!(!says("anything", "?!"));
    }
}
