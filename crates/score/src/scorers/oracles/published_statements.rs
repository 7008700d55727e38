//! Statements of a published text: its sentences, the items of its lists with what introduces them, and the objects of its JSON.

use crate::facts::published_amounts::AmountReader;
use crate::json_answer::parse_json_answer;
use serde_json::{Map, Value};

/// Words beside amounts up to which an item of a list says nothing of its own.
const MAX_ITEM_WORDS: usize = 3;
/// The same of a sentence: "And 1000 USDC."
const MAX_SENTENCE_WORDS: usize = 1;
/// Letters of a heading or sentence that lead items, the last ones.
const MAX_LEAD: usize = 400;
/// Keys of JSON that are written before its values, the last ones first, and the letters of each.
const MAX_KEYS: usize = 4;
const MAX_KEY: usize = 40;

/// Part of a text that says something on its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    pub text: String,
    /// Heading, title or sentence that says what its amounts are, if the text does not.
    pub lead: Option<String>,
}

/// Returns the statements of a text. `title` leads those that nothing else does.
pub(super) fn statements(reader: &AmountReader, text: &str, title: &str) -> Vec<Statement> {
    match parse_json_answer(text) {
        Some(value @ (Value::Object(_) | Value::Array(_))) => statements_of_json(reader, &value, title),
        Some(_) | None => statements_of_prose(reader, text, title),
    }
}

/// Returns one statement for each object and list, with the keys on the way to it.
pub(super) fn statements_of_json(reader: &AmountReader, value: &Value, title: &str) -> Vec<Statement> {
    let mut texts = vec![];
    push_json(&mut texts, value, &[]);
    let title = last_letters(title);
    let lead = |text: &str| (reader.count_other_words(text) <= MAX_ITEM_WORDS && !title.is_empty()).then(|| title.clone());
    texts.into_iter().map(|text| Statement { lead: lead(&text), text }).collect()
}

fn push_json(texts: &mut Vec<String>, value: &Value, keys: &[&str]) {
    match value {
        Value::Object(entries) => push_object(texts, entries, keys),
        Value::Array(items) => {
            let plain: Vec<String> = items.iter().filter_map(scalar).collect();
            if !plain.is_empty() {
                texts.push(format!("{} : {}", path(keys), plain.join(" , ")));
            }
            items.iter().filter(|item| scalar(item).is_none()).for_each(|item| push_json(texts, item, keys));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => texts.extend(scalar(value)),
    }
}

fn push_object(texts: &mut Vec<String>, entries: &Map<String, Value>, keys: &[&str]) {
    let plain: Vec<String> = entries.iter().filter_map(|(key, value)| Some(format!("{} : {}", key_text(key), scalar(value)?))).collect();
    if !plain.is_empty() {
        texts.push(format!("{} : {}", path(keys), plain.join(" , ")));
    }
    for (key, value) in entries.iter().filter(|(_, value)| scalar(value).is_none()) {
        let from = (keys.len() + 1).saturating_sub(MAX_KEYS);
        push_json(texts, value, &[&keys[from.min(keys.len())..], &[key.as_str()]].concat());
    }
}

/// Returns a value that stands in one place. Sentences end where fields do not.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.replace('\n', " . ")),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn path(keys: &[&str]) -> String {
    keys.iter().map(|key| key_text(key)).collect::<Vec<String>>().join(" ")
}

/// Returns a key with its words apart: `walletBalance` as "wallet Balance". Symbols such as wstETH have one word.
fn key_text(key: &str) -> String {
    let mut words = String::new();
    let mut letters = key.chars().take(MAX_KEY).peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let begins_word = before.is_lowercase() && letter.is_uppercase() && letters.peek().is_some_and(|next| next.is_lowercase());
        if begins_word {
            words.push(' ');
        }
        words.push(letter);
        before = letter;
    }
    words
}

fn statements_of_prose(reader: &AmountReader, text: &str, title: &str) -> Vec<Statement> {
    let mut found = vec![];
    let mut lead = last_letters(title);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_item = is_list_item(line);
        for sentence in lexical::sentences(line) {
            let most = if is_item { MAX_ITEM_WORDS } else { MAX_SENTENCE_WORDS };
            let is_heading = line.starts_with('#') || sentence.ends_with(':') || !reader.has_figure(&sentence);
            let has_lead = !lead.is_empty() && !is_heading && reader.count_other_words(&sentence) <= most;
            found.push(Statement { lead: has_lead.then(|| lead.clone()), text: sentence.clone() });
            if !is_item && !has_lead {
                lead = last_letters(&sentence);
            }
        }
    }
    found
}

fn last_letters(text: &str) -> String {
    let from = text.char_indices().rev().nth(MAX_LEAD - 1).map_or(0, |(at, _)| at);
    text[from..].to_owned()
}

/// Returns whether a line is an item of a list, a row of a table or a field of JSON, and opens no further one.
fn is_list_item(line: &str) -> bool {
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = (1..=2).contains(&number) && line[number..].starts_with([')', '.']) && line[number + 1..].starts_with(' ');
    let is_marked = line.starts_with(['-', '*', '•', '·', '–', '+', '|', '"', '{', '}', '[']) && !line.starts_with("**");
    (is_numbered || is_marked) && !line.ends_with([':', '{', '['])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    fn read(text: &str, title: &str) -> Vec<(String, Option<String>)> {
        let fixture = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        let reader = AmountReader::of(&fixture.evidence());
        statements(&reader, text, title).into_iter().map(|one| (one.text, one.lead)).collect()
    }

    #[test]
    fn items_have_the_sentence_before_them_as_lead() {
        let said = |text: &str, lead: Option<&str>| (text.to_owned(), lead.map(str::to_owned));
        assert_eq!(
            read("We hold:\n- 1000 USDC\n- trades of others move the price\n\nFees rose. And 5 WETH.", ""),
            [
                said("We hold:", None),
                said("- 1000 USDC", Some("We hold:")),
                said("- trades of others move the price", None),
                said("Fees rose.", None),
                said("And 5 WETH.", Some("Fees rose.")),
            ]
        );
        assert_eq!(read("1000 USDC", "Treasury"), [said("1000 USDC", Some("Treasury"))]);
    }

    #[test]
    fn objects_of_json_are_statements_with_their_keys() {
        let texts: Vec<String> = read(r#"{"a": 1, "walletBalances": {"USDC": 1000, "wstETH": "2"}, "b": [{"c": true}, "x"]}"#, "")
            .into_iter()
            .map(|one| one.0)
            .collect();
        assert_eq!(texts, [" : a : 1", "wallet Balances : USDC : 1000 , wstETH : 2", "b : x", "b : c : "]);
    }

    #[test]
    fn leads_of_many_items_stay_short() {
        let text = format!("{}\n{}", "ö".repeat(5000), "- 1\n".repeat(3));
        assert!(read(&text, "").iter().all(|(_, lead)| lead.as_ref().is_none_or(|lead| lead.chars().count() <= MAX_LEAD)));
    }
}
