//! Words of a text that are on the BIP-39 list.

use std::ops::Range;

/// Fewest words of a seed phrase.
pub(super) const SEED_WORDS: usize = 12;
/// Lengths of the words of the list.
const WORD_LENGTHS: std::ops::RangeInclusive<usize> = 3..=8;

/// Word of a text, in letters of ASCII.
#[derive(Debug, Clone)]
pub(super) struct TextWord {
    pub at: Range<usize>,
    /// The word is one of the BIP-39 list.
    pub is_listed: bool,
}

/// Returns all words of at least three letters: shorter ones are never words of the list. The letter of an escape such as \n is none of the word
/// behind it.
pub(super) fn text_words(bytes: &[u8]) -> impl Iterator<Item = TextWord> {
    letters(bytes).filter_map(|mut at| {
        let mut is_listed = is_listed(&bytes[at.clone()]);
        if !is_listed && at.start > 0 && bytes[at.start - 1] == b'\\' {
            at.start += 1;
            is_listed = self::is_listed(&bytes[at.clone()]);
        }
        (at.len() >= *WORD_LENGTHS.start()).then_some(TextWord { at, is_listed })
    })
}

/// Returns the places of all sequences of ASCII letters.
fn letters(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes[at..].iter().position(u8::is_ascii_alphabetic)?;
        let start = at;
        at += bytes[at..].iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(bytes.len() - at);
        Some(start..at)
    })
}

fn is_listed(word: &[u8]) -> bool {
    if !WORD_LENGTHS.contains(&word.len()) {
        return false;
    }
    let mut lower = [0; 8];
    let lower = &mut lower[..word.len()];
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    bip39::Language::English.word_list().binary_search_by(|listed| listed.as_bytes().cmp(lower)).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn list_of_words_is_sorted() {
        assert!(bip39::Language::English.word_list().is_sorted());
    }
}
