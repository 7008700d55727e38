//! Words of a transcript, and marks for the tools that it called and the scorers that it missed.

use serde_json::Value;
use std::collections::BTreeSet;

/// Characters of a word; longer ones are found by their beginning.
const MAX_WORD_CHARS: usize = 80;
/// Different words of a trial; a flood of them is cut.
const MAX_WORDS: usize = 50_000;
/// Begin of a mark, and the sign in it for everything that is not a letter or digit. Both are of the private use area, so that no word has them.
const MARK: char = '\u{e000}';
const OTHER: char = '\u{e001}';
/// Keys of an event that number it.
const NUMBERING: [&str; 4] = ["n", "at_ms", "depth", "call"];

/// Kind of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkKind {
    Tool,
    MissedScorer,
}

/// Returns the mark of a name, one token of the index.
pub(super) fn mark(kind: MarkKind, name: &str) -> String {
    let kind = match kind {
        MarkKind::Tool => 't',
        MarkKind::MissedScorer => 's',
    };
    let name = name.chars().take(MAX_WORD_CHARS).map(|c| if c.is_alphanumeric() { c } else { OTHER });
    [MARK, kind].into_iter().chain(name.flat_map(char::to_lowercase)).collect()
}

/// Splits a text into lower-case words: runs of letters and digits. Ideographs are words of their own, since no space divides them.
pub(super) fn words(text: &str) -> Vec<String> {
    let (mut found, mut word, mut length) = (vec![], String::new(), 0);
    for c in text.chars() {
        if !c.is_alphanumeric() || is_ideograph(c) {
            found.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            length = 0;
            found.extend(is_ideograph(c).then(|| c.to_string()));
        } else if length < MAX_WORD_CHARS {
            word.extend(c.to_lowercase());
            length += 1;
        }
    }
    found.extend((!word.is_empty()).then_some(word));
    found
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns the words and marks of a trial, each once, separated by spaces.
pub(super) fn trial_words(case: &str, events: &str, scores: &str) -> String {
    let mut found: BTreeSet<String> = words(case).into_iter().collect();
    if let Ok(events) = serde_json::from_str::<Value>(events) {
        add_words(&events, &mut found);
        let called = |event: &Value| event.pointer("/happened/called/tool").and_then(Value::as_str).map(|tool| mark(MarkKind::Tool, tool));
        found.extend(events.as_array().into_iter().flatten().filter_map(called));
    }
    if let Ok(scores) = serde_json::from_str::<Value>(scores) {
        found.extend(scores.as_array().into_iter().flatten().filter_map(missed_scorer));
    }
    found.into_iter().collect::<Vec<_>>().join(" ")
}

fn missed_scorer(score: &Value) -> Option<String> {
    let tally = |key: &str| score.pointer(&format!("/reading/tally/{key}")).and_then(Value::as_u64);
    let is_missed = tally("hit")? < tally("of")?;
    let name = score.get("scorer")?.as_str().filter(|_| is_missed)?;
    Some(mark(MarkKind::MissedScorer, name))
}

fn add_words(value: &Value, found: &mut BTreeSet<String>) {
    if found.len() >= MAX_WORDS {
        return;
    }
    match value {
        Value::String(text) => found.extend(words(text)),
        Value::Number(number) => found.extend(words(&number.to_string())),
        Value::Array(values) => values.iter().for_each(|value| add_words(value, found)),
        Value::Object(fields) => {
            fields.iter().filter(|(key, _)| !NUMBERING.contains(&key.as_str())).for_each(|(_, value)| add_words(value, found));
        }
        Value::Null | Value::Bool(_) => {}
    }
}
