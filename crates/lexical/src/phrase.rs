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

/// Text folded once, to be searched for many phrases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedText(String);

impl FoldedText {
    pub fn new(text: &str, folding: FoldMode) -> Self {
        Self(fold(text, folding))
    }

    /// Reports whether a phrase, folded the same way, occurs as whole words; in scripts that write words without spaces, anywhere. An
    /// empty phrase never does.
    pub fn contains(&self, phrase: &FoldedText) -> bool {
        let (text, phrase) = (&self.0, &phrase.0);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        !phrase.is_empty()
            && text.match_indices(phrase).any(|(start, found)| {
                let before = text[..start].chars().next_back();
                let after = text[start + found.len()..].chars().next();
                let joined = |outside: Option<char>, edge: Option<char>| {
                    outside.is_some_and(is_word) && ![outside, edge].into_iter().flatten().any(is_unspaced)
                };
                !joined(before, found.chars().next()) && !joined(after, found.chars().next_back())
            })
    }
}

/// Reports whether a phrase occurs in a text as [`FoldedText::contains`] finds it.
pub fn contains_phrase(text: &str, phrase: &str, folding: FoldMode) -> bool {
    FoldedText::new(text, folding).contains(&FoldedText::new(phrase, folding))
}

/// Reports whether a character belongs to a script whose words are not separated by spaces, or have endings without a space: kana, Han,
/// Hangul, Thai.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
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
    fn words_without_spaces_are_found() {
        let says = |text, phrase| contains_phrase(text, phrase, FoldMode::Punctuation);
        assert!(says("いくらを交換しますか？", "いくら"));
        assert!(says("请问要兑换多少USDC？", "多少"));
        assert!(says("금액은 얼마인가요?", "금액"));
        assert!(says("请问要兑换多少USDC？", "usdc"));
        assert!(!says("请问要兑换多少", "链"));
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
