//! Search for words that nothing continues.

/// Escapes of white space in JSON. Their letter is no part of the word after them.
const ESCAPES: [&str; 3] = ["\\n", "\\t", "\\r"];

/// Returns whether a text has a word that no letter, no digit and none of the given characters continues.
pub(crate) fn has_whole(text: &str, wanted: &str, joins: &[char]) -> bool {
    let continues = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || joins.contains(&letter));
    text.match_indices(wanted).any(|(at, found)| {
        let before = &text[..at];
        let is_escape = ESCAPES.iter().any(|escape| before.ends_with(escape));
        (is_escape || !continues(before.chars().next_back())) && !continues(text[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_found() {
        assert!(has_whole("see 8453:482290.", "482290", &['-']) && has_whole("done\\nclaim.gg", "claim.gg", &['-']));
        assert!(has_whole("pos-31", "31", &[]) && !has_whole("pos-31", "31", &['-']));
        assert!(!has_whole("order-311", "order-31", &[]));
    }
}
