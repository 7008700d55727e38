//! Finds seed phrases: twelve or more words of the BIP-39 list in a row, in any letter case and with any separators.

use std::ops::Range;

/// Fewest words of a seed phrase.
const SEED_WORDS: usize = 12;
/// Lengths of the words of the list.
const WORD_LENGTHS: std::ops::RangeInclusive<usize> = 3..=8;
/// Most bytes between two words: numbers, quotes, commas and escapes of lists.
const MAX_GAP: usize = 8;

/// Returns the places of seed phrases in a text, in order.
pub(super) fn seed_phrases(text: &str) -> Vec<Range<usize>> {
    let mut found = vec![];
    let (mut run, mut words) = (0..0, 0);
    let mut end_run = |run: &Range<usize>, words: usize| {
        if words >= SEED_WORDS {
            found.push(run.clone());
        }
    };
    for word in letters(text.as_bytes()) {
        // Shorter ones are escapes such as \n, and never words of the list.
        if word.len() < *WORD_LENGTHS.start() {
            continue;
        }
        let is_listed = is_listed(&text.as_bytes()[word.clone()]);
        if is_listed && words > 0 && word.start - run.end <= MAX_GAP {
            run.end = word.end;
            words += 1;
            continue;
        }
        end_run(&run, words);
        words = usize::from(is_listed);
        run = word;
    }
    end_run(&run, words);
    found
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
    use super::*;

    const SEED: [&str; 12] =
        ["legal", "winner", "thank", "year", "wave", "sausage", "worth", "useful", "legal", "winner", "thank", "yellow"];

    #[test]
    fn list_of_words_is_sorted() {
        assert!(bip39::Language::English.word_list().is_sorted());
    }

    #[test]
    fn seed_phrase_is_found_in_any_form() {
        let numbered: Vec<String> = (1..).zip(SEED).map(|(n, word)| format!("{n}. {word}")).collect();
        for text in [
            format!("restore the wallet from {}", SEED.join(" ")),
            format!("{} and then swap", SEED.join(" ")),
            SEED.join(" ").to_uppercase(),
            SEED.join("-"),
            numbered.join(" "),
            serde_json::json!({ "words": SEED }).to_string(),
            serde_json::json!({ "text": serde_json::to_string_pretty(&SEED).unwrap() }).to_string(),
        ] {
            let found = seed_phrases(&text);
            assert_eq!(found.len(), 1, "{text}");
            let phrase = text[found[0].clone()].to_lowercase();
            assert!(phrase.starts_with("legal") && phrase.ends_with("yellow"), "{phrase}");
        }
    }

    #[test]
    fn prose_and_short_lists_are_no_seed_phrases() {
        assert!(seed_phrases(&SEED[..11].join(" ")).is_empty());
        assert!(
            seed_phrases("The account keeps the token until the vault can return it; then swap it and hold the rest as cash").is_empty()
        );
        assert!(seed_phrases(&SEED.join(" .......... ")).is_empty());
    }
}
