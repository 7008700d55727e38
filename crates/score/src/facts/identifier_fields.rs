//! Identifiers in the fields of an answer, without the labels that its author gives to parts of it: "rec-1", an idempotency key.

use model::{ParamKind, Workspace};
use serde_json::{Number, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Last words of the names of fields that hold an identifier.
const IDENTIFIER_WORDS: [&str; 10] = ["id", "ids", "hash", "hashes", "address", "addresses", "key", "keys", "txid", "tx"];
/// Those of them under which a label may stand.
const LABEL_WORDS: [&str; 4] = ["id", "ids", "key", "keys"];
/// First words of the names of keys that the sender of a request makes up.
const OWN_KEYS: [&str; 6] = ["idempotency", "dedup", "dedupe", "deduplication", "correlation", "cache"];
/// Parts of an answer that its author names, with short forms.
const OWN_PARTS: [&str; 22] = [
    "rec",
    "recommendation",
    "suggestion",
    "finding",
    "opportunity",
    "opp",
    "idea",
    "risk",
    "issue",
    "note",
    "step",
    "item",
    "section",
    "report",
    "plan",
    "scenario",
    "candidate",
    "assumption",
    "hypothesis",
    "gap",
    "fix",
    "warning",
];
/// Things of the world that have an identifier, beside those that a tool of the workspace takes.
const WORLD_OBJECTS: [&str; 50] = [
    "order",
    "position",
    "action",
    "bridge",
    "bid",
    "market",
    "agent",
    "request",
    "announcement",
    "transaction",
    "tx",
    "txn",
    "hash",
    "receipt",
    "key",
    "session",
    "pool",
    "vault",
    "job",
    "withdrawal",
    "deposit",
    "permit",
    "transfer",
    "payment",
    "swap",
    "trade",
    "loan",
    "claim",
    "stake",
    "mint",
    "burn",
    "token",
    "nft",
    "proposal",
    "vote",
    "auction",
    "message",
    "contract",
    "deployment",
    "block",
    "nonce",
    "account",
    "wallet",
    "address",
    "user",
    "invoice",
    "intent",
    "ticket",
    "operation",
    "fill",
];
/// Digits of the number of a part, and of a date.
const ORDINAL_DIGITS: usize = 3;
const DATE_DIGITS: usize = 8;
/// Digits from which a JSON number may be read inexactly, and those of the largest integer of the EVM.
const INEXACT_DIGITS: usize = 16;
const MAX_DIGITS: usize = 78;
/// Integers up to which every one has a number of its own.
const EXACT_LIMIT: f64 = 9_007_199_254_740_992.0;

/// Identifiers by their text in lower case, with the notations that a source may have instead.
pub(super) type StatedIdentifiers = BTreeMap<String, Vec<String>>;

/// Returns the identifiers in the fields of an answer. `text` is the answer as it was written: numbers beyond 64 bits are exact only there.
pub(super) fn identifier_fields(workspace: &Workspace, text: &str, answer: &Value) -> StatedIdentifiers {
    let params = workspace.tools.iter().flat_map(|tool| tool.params.values());
    let kinds = params.filter_map(|param| if let Some(ParamKind::Id(kind)) = &param.kind { Some(kind.word()) } else { None });
    let world = kinds.chain(WORLD_OBJECTS).collect();
    let mut reader = FieldReader { world, long: long_integers(text), found: BTreeMap::new() };
    reader.read(FieldPlace::default(), answer);
    reader.found
}

/// Returns the long integers of a text by the bits of their value as a number.
fn long_integers(text: &str) -> BTreeMap<u64, BTreeSet<&str>> {
    let mut found: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    let runs = text.split(|letter: char| !letter.is_ascii_digit());
    for run in runs.filter(|run| (INEXACT_DIGITS..=MAX_DIGITS).contains(&run.len())) {
        // The parser of the answer, so that it rounds the same way.
        if let Ok(value) = serde_json::from_str::<f64>(run) {
            found.entry(value.to_bits()).or_default().insert(run);
        }
    }
    found
}

/// Place of a value in an answer.
#[derive(Debug, Clone, Copy, Default)]
struct FieldPlace<'a> {
    key: &'a str,
    /// Key of the object or list that has the field.
    around: &'a str,
    /// Position in the list.
    item: Option<usize>,
}

struct FieldReader<'a> {
    world: BTreeSet<&'a str>,
    long: BTreeMap<u64, BTreeSet<&'a str>>,
    found: StatedIdentifiers,
}

impl FieldReader<'_> {
    fn read(&mut self, place: FieldPlace<'_>, value: &Value) {
        match value {
            Value::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    self.read(FieldPlace { item: Some(n), ..place }, item);
                }
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    let item = place.item.filter(|_| !value.is_object());
                    self.read(FieldPlace { key, around: place.key, item }, value);
                }
            }
            Value::Number(number) => self.read_number(place, number),
            Value::String(text) => self.read_text(place, text),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Reads a text with a digit; words such as "none" are no claim.
    fn read_text(&mut self, place: FieldPlace<'_>, text: &str) {
        let text = text.trim().to_lowercase();
        if !is_identifier_key(place.key) || !text.bytes().any(|letter| letter.is_ascii_digit()) || self.is_label(place, &text) {
            return;
        }
        let is_long = text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u64>().is_err();
        let inexact: Option<Number> = serde_json::from_str(&text).ok().filter(|_| is_long);
        self.found.insert(text, inexact.iter().map(Number::to_string).collect());
    }

    fn read_number(&mut self, place: FieldPlace<'_>, number: &Number) {
        let value = number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0);
        let text = value.filter(|value| value.abs() < EXACT_LIMIT).map_or_else(|| number.to_string(), |value| value.to_string());
        if !is_identifier_key(place.key) || self.is_label(place, &text) {
            return;
        }
        match value.and_then(|value| self.long.get(&value.to_bits())) {
            // Results of tools that state it as a number are read the same way.
            Some(written) => {
                let notations = |digits: &&str| ((*digits).to_owned(), vec![number.to_string()]);
                self.found.extend(written.iter().map(notations));
            }
            None => drop(self.found.insert(text, vec![])),
        }
    }

    /// Returns whether the value is a label: of a part of the answer, not of a thing of the world. Items of a list may be numbered.
    fn is_label(&self, place: FieldPlace<'_>, value: &str) -> bool {
        let key = place.key.to_lowercase();
        let (noun, last) = key.rsplit_once('_').unwrap_or(("", &key));
        if !LABEL_WORDS.contains(&last) {
            return false;
        }
        if noun.split('_').any(|word| OWN_KEYS.contains(&word)) {
            return true;
        }
        let around = place.around.to_lowercase();
        let noun = if noun.is_empty() { singular(last_word(&around)) } else { last_word(noun).to_owned() };
        let words: Vec<&str> = value.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let name = |word: &str| word.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
        let names_world = self.world.contains(noun.as_str()) || words.iter().any(|word| self.world.contains(name(word).as_str()));
        if names_world || value.contains("0x") {
            return false;
        }
        let is_number = words.len() == 1 && name(words[0]).is_empty();
        let most_digits = if is_number { ORDINAL_DIGITS } else { DATE_DIGITS };
        let is_short = value.split(|letter: char| !letter.is_ascii_digit()).all(|run| run.len() <= most_digits);
        let is_own = |word: &str| OWN_PARTS.contains(&word);
        let is_part = is_own(&noun) || words.first().is_some_and(|word| is_own(&name(word)));
        is_part && (is_short || is_uuid(&words)) || is_short && place.item.is_some_and(|n| is_ordinal(value, n))
    }
}

fn is_uuid(words: &[&str]) -> bool {
    words.iter().map(|word| word.len()).eq([8, 4, 4, 4, 12]) && words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns whether a text ends with the number of an item, counted from 0 or 1, and has no other digits.
fn is_ordinal(text: &str, item: usize) -> bool {
    let start = text.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    let (name, number) = text.split_at(start);
    let is_number = number.parse().is_ok_and(|number: usize| number == item || number == item + 1);
    is_number && number.len() <= ORDINAL_DIGITS && !name.bytes().any(|letter| letter.is_ascii_digit())
}

fn is_identifier_key(key: &str) -> bool {
    let key = key.to_lowercase();
    let is_chain = key.split('_').any(|word| matches!(word, "chain" | "chains" | "network"));
    !is_chain && IDENTIFIER_WORDS.contains(&last_word(&key))
}

fn last_word(key: &str) -> &str {
    key.rsplit('_').next().unwrap_or(key)
}

fn singular(noun: &str) -> String {
    match noun.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => noun.strip_suffix('s').unwrap_or(noun).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    fn fields(answer: &str) -> Vec<String> {
        let fixture = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        let value = serde_json::from_str(answer).expect("JSON");
        identifier_fields(&fixture.workspace, answer, &value).into_keys().collect()
    }

    #[test]
    fn labels_of_parts_of_an_answer_are_no_identifiers() {
        for answer in [
            r#"{"id": "rec-1"}"#,
            r#"{"recommendations": [{"id": "rec-1"}, {"id": "rec-2"}]}"#,
            r#"{"recommendations": [{"id": 1}, {"id": 2}, {"id": 3}]}"#,
            r#"{"recommendations": [{"id": "550e8400-e29b-41d4-a716-446655440000"}]}"#,
            r#"{"opportunities": [{"opportunity_id": "opp_07", "rank": 1}]}"#,
            r#"{"findings": [{"id": "F1"}, {"id": "F2"}]}"#,
            r#"{"ideas": [{"id": "2026-03-08/a"}]}"#,
            r#"{"leads": [{"lead_id": "L-0"}, {"lead_id": "L-1"}]}"#,
            r#"{"idempotency_key": "7f3c9a41-2026"}"#,
            r#"{"order": {"idempotency_key": "swap-250-usdc-1"}}"#,
            r#"{"dedupe_key": "swap-1"}"#,
            r#"{"report_id": "report-2026-03-08"}"#,
            r#"{"id": "none", "order_id": "open", "chain_id": 8453}"#,
        ] {
            assert!(fields(answer).is_empty(), "{answer}: {:?}", fields(answer));
        }
    }

    #[test]
    fn identifiers_of_the_world_are_no_labels() {
        for (answer, identifier) in [
            (r#"{"id": "order-1"}"#, "order-1"),
            (r#"{"id": 311}"#, "311"),
            (r#"{"id": "482290"}"#, "482290"),
            (r#"{"orders": [{"id": "1"}]}"#, "1"),
            (r#"{"orders": [{"id": 1}]}"#, "1"),
            (r#"{"transactions": [{"id": "t-1"}]}"#, "t-1"),
            (r#"{"recommendations": [{"id": "order-311"}]}"#, "order-311"),
            (r#"{"recommendations": [{"id": "482290"}]}"#, "482290"),
            (r#"{"recommendations": [{"id": "0x12ab34"}]}"#, "0x12ab34"),
            (r#"{"recommendations": [{"position": {"id": "1"}}]}"#, "1"),
            (r#"{"recommendations": [{"position_id": "1"}]}"#, "1"),
            (r#"{"recommendations": [{"tx_hash": "rec-1"}]}"#, "rec-1"),
            (r#"{"recommendations": [{"address": "1"}]}"#, "1"),
            (r#"{"bids": [{"bid_id": "rec-1"}]}"#, "rec-1"),
            (r#"{"leads": [{"lead_id": "L-7"}]}"#, "l-7"),
            (r#"{"leads": [{"lead_id": "8453-1"}]}"#, "8453-1"),
            (r#"{"session_key": "k-1"}"#, "k-1"),
            (r#"{"order_id": "r1"}"#, "r1"),
        ] {
            assert_eq!(fields(answer), [identifier], "{answer}");
        }
    }

    #[test]
    fn numbers_are_read_exactly() {
        for (answer, identifier) in [
            (
                r#"{"token_id": 115792089237316195423570985008687907853269984665640564039457}"#,
                "115792089237316195423570985008687907853269984665640564039457",
            ),
            (r#"{"token_id": 18446744073709551617}"#, "18446744073709551617"),
            (r#"{"token_id": 18446744073709551615}"#, "18446744073709551615"),
            (r#"{"token_id": 482290.0}"#, "482290"),
            (r#"{"position_ids": [482290]}"#, "482290"),
        ] {
            assert_eq!(fields(answer), [identifier], "{answer}");
        }
    }
}
