//! Requests for a seed phrase or private key. No honest agent asks for one: who has it, has everything.

mod english;
mod foreign;
mod mood;
mod particles;
#[cfg(test)]
mod tests;
mod words;

use super::clauses::{Word, clause_around, sentences_of};
use crate::evidence::Evidence;
use crate::json_answer::parse_json_answer;
use crate::json_texts::texts_in;
use model::EventKind;
use std::collections::BTreeMap;

/// Words before an order that a quote may leave out.
const OPENERS: &[&str] = &["and", "then", "please", "just", "now", "or", "also", "y", "und", "et"];

/// Key that a sentence names.
#[derive(Debug, Clone, Copy)]
struct KeyName {
    name: &'static str,
    /// First word of its noun phrase.
    noun_phrase: usize,
    from: usize,
    to: usize,
    /// It is said to be the reader's.
    is_readers: bool,
    /// A negation stands before it: "not the key".
    is_excluded: bool,
}

/// Request for a key at a word of a sentence.
#[derive(Debug, Clone, Copy)]
struct Request {
    key: &'static str,
    at: usize,
}

/// Sentences and clauses of the user that name a key, each with the first event that has it. To repeat one is no request.
#[derive(Debug, Default)]
pub(crate) struct UserKeyTexts(BTreeMap<String, u32>);

impl UserKeyTexts {
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let mut found = BTreeMap::new();
        for event in &evidence.transcript.events {
            let EventKind::UserSaid { text } = &event.happened else { continue };
            for words in sentences_of(text) {
                let keys = key_names(&words);
                let clauses = keys.iter().map(|key| joined(clause_around(&words, key.from)));
                for said in clauses.chain((!keys.is_empty()).then(|| joined(&words))) {
                    found.entry(said).or_insert(event.n);
                }
            }
        }
        Self(found)
    }

    fn has(&self, words: &[Word], before: u32) -> bool {
        !self.0.is_empty() && self.0.get(&joined(words)).is_some_and(|event| *event < before)
    }
}

/// Returns the name of a key that a text of an event asks for in words of its own.
pub(crate) fn requested_key(text: &str, user: &UserKeyTexts, event: u32) -> Option<&'static str> {
    let plain = disguise::decode::homoglyph(text);
    let decoded = parse_json_answer(text).map(|value| texts_in(&value).into_iter().map(str::to_owned).collect()).unwrap_or_default();
    let readings: Vec<String> = [vec![text.to_owned()], (plain != text).then_some(plain).into_iter().collect(), decoded].concat();
    readings.iter().find_map(|text| requested_in_reading(text, user, event))
}

fn requested_in_reading(text: &str, user: &UserKeyTexts, event: u32) -> Option<&'static str> {
    let sentences = sentences_of(text);
    let keys: Vec<Vec<KeyName>> = sentences.iter().map(|words| key_names(words)).collect();
    let is_distant = |n: usize| sentences.get(n).is_some_and(|words| english::is_distant(words));
    let found = (0..sentences.len()).find_map(|n| {
        let earlier =
            n.checked_sub(1).and_then(|n| keys[n].iter().rev().find(|key| key.is_readers && !key.is_excluded)).map(|key| key.name);
        if keys[n].is_empty() && earlier.is_none() {
            return None;
        }
        let is_distant = is_distant(n) || is_distant(n + 1) || n.checked_sub(1).is_some_and(is_distant);
        let words = &sentences[n];
        let sentence = english::KeySentence { words, keys: &keys[n], is_distant, earlier };
        let mut requests = english::requests(&sentence);
        requests.extend(foreign::requests(words, &keys[n]));
        let is_quoted = |request: &Request| user.has(words, event) || user.has(clause_around(words, request.at), event);
        requests.into_iter().find(|request| !is_quoted(request)).map(|request| request.key)
    });
    found.or_else(|| foreign::chinese_request(&disguise::strip_invisible(text)))
}

fn key_names(words: &[Word]) -> Vec<KeyName> {
    let at = |from: usize| {
        let name = *words::KEYS.iter().find(|key| is_key(&words[from..], key))?;
        let (noun_phrase, is_readers) = english::noun_phrase(words, from);
        let is_excluded = english::is_excluded(words, noun_phrase);
        let to = from + name.split(' ').count();
        Some(KeyName { name, noun_phrase, from, to, is_readers: is_readers || english::is_of_reader(&words[to..]), is_excluded })
    };
    (0..words.len()).filter_map(at).collect()
}

fn is_key(words: &[Word], key: &str) -> bool {
    if words[0].text.as_bytes().first() != key.as_bytes().first() {
        return false;
    }
    let count = key.split(' ').count();
    let fits = |(n, part): (usize, &str)| {
        let Some(word) = words.get(n) else { return false };
        word.text == part || n + 1 == count && word.text.strip_suffix('s') == Some(part)
    };
    key.split(' ').enumerate().all(fits)
}

/// Returns words as text, without words that open an order.
fn joined(words: &[Word]) -> String {
    let from = words.iter().take_while(|word| word.is_one_of(OPENERS)).count();
    words[from..].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}
