//! Private keys without a name. They look like the hash of a transaction, so that only the field or the words before tell a hash.

use regex::Regex;
use std::borrow::Cow;

/// 32 bytes in hex.
pub(super) const PATTERN: &str = r"(?-u:\b)(?:0[xX])?[0-9a-fA-F]{64}(?-u:\b)";

/// Parts of the names of fields that hold hashes and ids.
const FIELD_WORDS: &[&str] = &[
    "hash",
    "tx",
    "txn",
    "txid",
    "txhash",
    "transaction",
    "transactions",
    "transactionhash",
    "topic",
    "topics",
    "block",
    "blockhash",
    "root",
    "digest",
    "digests",
    "sha256",
    "keccak",
    "keccak256",
    "checksum",
    "fingerprint",
    "commit",
    "commitment",
    "revision",
    "proof",
    "leaf",
    "merkle",
    "salt",
    "slot",
    "id",
    "ids",
    "uid",
    "pool",
    "market",
    "position",
    "order",
    "calldata",
    "bytes32",
    "signature",
    "sig",
    "r",
    "s",
    "receipt",
    "run",
    "trial",
    "policy",
    "role",
    "public",
    "pubkey",
    "image",
];
/// Words before a hash in a sentence, and after it.
const PROSE_WORDS: &[&str] =
    &["hash", "tx", "txn", "transaction", "topic", "block", "root", "digest", "sha256", "receipt", "market", "pool", "position"];
const VERBS_AFTER: &[&str] = &["mined", "confirmed", "reverted", "succeeded"];
/// Words directly before a key, also if a transaction is mentioned before them.
const KEY_WORDS: &[&str] = &["key", "with", "using", "use", "by", "import", "as", "private", "secret", "seed", "signer", "wallet"];
/// Zeros at the begin of a padded address or number. No key has as many.
const MIN_ZEROS: usize = 16;
/// Bytes that are looked at on each side.
const AROUND: usize = 120;

/// Replaces what may be a private key. `field` is the name of the attribute that holds the text.
pub(super) fn redact_hex_keys<'t>(pattern: &Regex, field: &str, text: &'t str, replacement: &str) -> Cow<'t, str> {
    let (mut clean, mut copied, mut last): (String, usize, Option<(usize, bool)>) = (String::new(), 0, None);
    for found in pattern.find_iter(text) {
        let from = last.map_or(0, |(end, _)| end);
        let between = &text[from..found.start()];
        // Elements of a list have the name of the list.
        let is_kept = match last {
            Some((_, is_kept)) if between.chars().all(is_separator) => is_kept,
            Some(_) | None => is_hash(field, between, found.as_str(), &text[found.end()..]),
        };
        last = Some((found.end(), is_kept));
        if !is_kept {
            clean.push_str(&text[copied..found.start()]);
            clean.push_str(replacement);
            copied = found.end();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[copied..]);
    Cow::Owned(clean)
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | '[' | '(' | '{' | ',' | '`' | '<')
}

fn is_hash(field: &str, before: &str, digits: &str, after: &str) -> bool {
    let digits = digits.trim_start_matches("0x").trim_start_matches("0X");
    if digits.bytes().take_while(|digit| *digit == b'0').count() >= MIN_ZEROS {
        return true;
    }
    let before = tail(before).trim_end_matches(is_separator);
    let named = before.strip_suffix([':', '=']).map(str::trim_end);
    if let Some(name) = named.and_then(|name| name.strip_suffix(['"', '\''])) {
        return is_hash_field(last_words(name.trim_end_matches('\\'), 1).next().unwrap_or_default());
    }
    let words: Vec<String> = last_words(named.unwrap_or(before), 2).map(str::to_lowercase).collect();
    match words.first() {
        None => is_hash_field(field) || is_told_after(after),
        Some(word) if KEY_WORDS.contains(&word.as_str()) => false,
        Some(_) => words.iter().any(|word| PROSE_WORDS.contains(&word.as_str()) || is_hash_name(word)) || is_told_after(after),
    }
}

/// Returns whether the next words say what became of a transaction.
fn is_told_after(after: &str) -> bool {
    let next: Vec<&str> = after.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()).take(3).collect();
    next.iter().any(|word| VERBS_AFTER.contains(word))
}

/// Returns the last words of a text, the last one first. A word may have underscores, dots and hyphens.
fn last_words(text: &str, count: usize) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.rsplit(move |c: char| !is_part(c)).filter(|word| !word.is_empty()).take(count)
}

/// Returns the end of a text.
fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(AROUND);
    let at = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    &text[at..]
}

/// Returns whether a word such as `tx_hash` is the name of a field and not a word of a sentence.
fn is_hash_name(word: &str) -> bool {
    word.contains(['_', '-']) && is_hash_field(word)
}

/// Returns whether the name of a field says that it holds a hash or an id. `parentHash` has the parts `parent` and `hash`.
fn is_hash_field(name: &str) -> bool {
    let mut parts: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && was_lower) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            part.push(c.to_ascii_lowercase());
        }
        was_lower = c.is_ascii_lowercase();
    }
    parts.iter().any(|part| FIELD_WORDS.contains(&part.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";

    fn redact(field: &str, text: &str) -> String {
        redact_hex_keys(&Regex::new(PATTERN).unwrap(), field, &text.replace("HEX", HEX), "[redacted]").into_owned()
    }

    #[test]
    fn keys_without_a_name_are_removed() {
        for (field, text) in [
            ("", "HEX"),
            ("", "0xHEX"),
            ("gen_ai.tool.call.result", "0xHEX"),
            ("input.value", "here it is: 0xHEX"),
            ("", "{\"key\":\"0xHEX\"}"),
            ("", "{\"network\":\"root\",\"key\":\"0xHEX\"}"),
            ("", "{\"tx_hash\":\"0xHEX\",\"signer\":\"0xHEX\"}"),
            ("", "sign the transaction with 0xHEX"),
            ("", "use 0xHEX and send the transaction"),
            ("", "export PK=0xHEX"),
            ("", "{\\\"pk\\\":\\\"HEX\\\"}"),
            ("", "Ключ 0xHEX"),
        ] {
            let clean = redact(field, text);
            assert!(clean.contains("[redacted]") && !clean.ends_with(HEX), "{text} → {clean}");
        }
        assert_eq!(redact("", "{\"tx_hash\":\"0xHEX\",\"signer\":\"0xHEX\"}").matches(HEX).count(), 1, "the hash stays");
    }

    #[test]
    fn hashes_and_ids_stay() {
        for (field, text) in [
            ("blockchain.transaction.hash", "0xHEX"),
            ("bardo_eval.trial_id", "HEX"),
            ("container.id", "HEX"),
            ("", "transaction 0xHEX was mined"),
            ("", "Transaction sent: 0xHEX"),
            ("", "0xHEX was mined"),
            ("", "see https://basescan.org/tx/0xHEX"),
            ("", "{\"hash\": \"0xHEX\"}"),
            ("", "{\\\"calldata_hash\\\":\\\"HEX\\\"}"),
            ("", "{\"topics\":[\"0xHEX\",\"0xHEX\", \"0xHEX\"]}"),
            ("", "{\"parentHash\":\"0xHEX\"}"),
            ("", "{\"position_key\":\"0xHEX\"}"),
            ("", "image@sha256:HEX"),
            ("", "calldata 0xHEXHEX"),
        ] {
            let clean = redact(field, text);
            assert_eq!(clean, text.replace("HEX", HEX), "{field}");
        }
        let padded = format!("0x{}{}", "0".repeat(24), "a".repeat(40));
        assert_eq!(redact("", &padded), padded);
    }

    #[test]
    fn many_keys_take_linear_time() {
        let text = "0xHEX\",\"".repeat(100_000);
        assert!(!redact("", &text).contains(HEX));
    }
}
