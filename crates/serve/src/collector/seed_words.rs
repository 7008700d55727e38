//! Finds seed phrases: twelve or more words of the BIP-39 list in a row, in any letter case and with any separators.

use super::listed_words::{SEED_WORDS, text_words};
use super::seed_lists::SeedLists;
use std::ops::Range;

/// Most bytes between two words: numbers, quotes, commas and escapes of lists.
const MAX_GAP: usize = 8;

/// Returns the places of seed phrases in a text, in order and without overlap.
pub(super) fn seed_phrases(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = vec![];
    let (mut run, mut words) = (0..0, 0);
    let mut lists = SeedLists::new(bytes);
    for word in text_words(bytes) {
        if word.is_listed && words > 0 && word.at.start - run.end <= MAX_GAP {
            run.end = word.at.end;
            words += 1;
        } else {
            found.extend((words >= SEED_WORDS).then(|| run.clone()));
            words = usize::from(word.is_listed);
            run = word.at.clone();
        }
        lists.add(word);
    }
    found.extend((words >= SEED_WORDS).then_some(run));
    found.extend(lists.finish());
    merged(found)
}

/// Sorts ranges and joins those that overlap.
fn merged(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = vec![];
    for range in found {
        match joined.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: [&str; 12] =
        ["legal", "winner", "thank", "year", "wave", "sausage", "worth", "useful", "legal", "winner", "thank", "yellow"];

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
            SEED.join("\n"),
            serde_json::json!({ "contents": SEED.join("\n") }).to_string(),
            serde_json::json!({ "text": serde_json::to_string_pretty(&SEED).unwrap() }).to_string(),
            format!("[\"{}\"]", SEED.join("\",\n            \"")),
            serde_json::json!({ "text": format!("[\"{}\"]", SEED.join("\",\n            \"")) }).to_string(),
        ] {
            let found = seed_phrases(&text);
            assert_eq!(found.len(), 1, "{text}");
            let phrase = text[found[0].clone()].to_lowercase();
            assert!(phrase.starts_with("legal") && phrase.ends_with("yellow"), "{phrase}");
        }
    }

    #[test]
    fn phrase_with_one_mistaken_word_is_found() {
        for at in 0..SEED.len() {
            let mut words = SEED;
            words[at] = "winer";
            for separator in [" ", ", ", "-", "\n", "\",\n      \""] {
                let text = format!("restore: {}.", words.join(separator));
                let found = seed_phrases(&text);
                let phrase = found.first().map(|found| &text[found.clone()]);
                assert_eq!(phrase, Some(words.join(separator).as_str()), "{at}");
            }
            words[(at + 5) % 12] = "winer";
            assert!(seed_phrases(&words.join(" ")).is_empty(), "{at}: two mistakes");
        }
        let long = [SEED, SEED].concat().join(" ").replacen("useful", "usefull", 1);
        assert_eq!(seed_phrases(&long).len(), 1);
    }

    #[test]
    fn messages_of_agents_are_no_seed_phrases() {
        for text in [
            r#"[{"type":"text","text":"ok"},{"type":"tool_use","id":"t","name":"swap","input":{}},{"type":"tool_use","id":"t","name":"a"}]"#,
            "{\n  \"type\": \"function\",\n  \"name\": \"asset\",\n  \"type\": \"address\",\n  \"name\": \"swap\",\n  \"type\": \"word\"\n}",
        ] {
            assert!(seed_phrases(text).is_empty(), "{text}");
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
