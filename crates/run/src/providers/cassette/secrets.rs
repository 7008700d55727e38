//! Secret detection and scrubbing for cassettes, which are committed to the repository.

use crate::providers::chat::ModelReply;
use crate::providers::fault::ProviderFault;
use serde_json::Value;

const REDACTED: &str = "[secret]";

/// Prefixes of vendor keys, with the minimum number of key characters that follow.
const KEY_PREFIXES: &[(&str, usize)] =
    &[("sk-", 24), ("xai-", 24), ("gsk_", 24), ("ghp_", 30), ("github_pat_", 30), ("AKIA", 16), ("AIza", 30), ("hf_", 30)];

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// Returns the byte range of the first possible secret.
fn find_secret(text: &str) -> Option<(usize, usize)> {
    let found = KEY_PREFIXES.iter().flat_map(|(head, more)| {
        text.match_indices(head).filter_map(move |(at, _)| {
            let alone = !text[..at].chars().next_back().is_some_and(is_key_char);
            let rest: usize = text[at + head.len()..].chars().take_while(|c| is_key_char(*c)).count();
            (alone && rest >= *more).then_some((at, at + head.len() + rest))
        })
    });
    let pem = text.find("-----BEGIN ").filter(|at| text[*at..].contains("PRIVATE KEY-----")).map(|at| {
        let end = text[at..].find("-----END ").map_or(text.len(), |end| at + end);
        (at, end)
    });
    found.chain(pem).min()
}

pub(super) fn contains_secret(text: &str) -> bool {
    find_secret(text).is_some()
}

fn scrub(text: &str) -> String {
    let (mut left, mut out) = (text, String::new());
    while let Some((from, to)) = find_secret(left) {
        out.push_str(&left[..from]);
        out.push_str(REDACTED);
        left = &left[to..];
    }
    out + left
}

fn scrub_value(value: &mut Value) {
    match value {
        Value::String(text) if contains_secret(text) => *text = scrub(text),
        Value::Array(items) => items.iter_mut().for_each(scrub_value),
        Value::Object(entries) => entries.values_mut().for_each(scrub_value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) fn scrub_reply(reply: ModelReply) -> Result<ModelReply, ProviderFault> {
    if !contains_secret(&reply.to_json()) {
        return Ok(reply);
    }
    let unreadable = |error: serde_json::Error| ProviderFault::garbled(error.to_string());
    let mut value = serde_json::to_value(&reply).map_err(unreadable)?;
    scrub_value(&mut value);
    serde_json::from_value(value).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrub_removes_keys_and_keeps_ordinary_words() {
        let key = format!("AKIA{}", "NOTAREALKEY".repeat(2));
        assert_eq!(scrub(&format!("a {key}, b {key}")), "a [secret], b [secret]");
        for fine in ["risk-adjusted-returns-over-a-very-long-time", "sk-short", "0xca9E000000000000000000000000000000000000", "task-1"] {
            assert!(!contains_secret(fine), "{fine}");
        }
    }
}
