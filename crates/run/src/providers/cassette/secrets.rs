//! What must not get into a recording, which is committed and read by everybody.

use crate::providers::fault::ProviderFault;
use crate::providers::talk::Reply;
use serde_json::Value;

const SHOWN: &str = "[secret]";

/// How keys of vendors begin; each followed by at least so many more characters of a key.
const HEADS: &[(&str, usize)] =
    &[("sk-", 24), ("xai-", 24), ("gsk_", 24), ("ghp_", 30), ("github_pat_", 30), ("AKIA", 16), ("AIza", 30), ("hf_", 30)];

fn in_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// Where in the text something stands that looks like a key of a vendor.
fn first(text: &str) -> Option<(usize, usize)> {
    let found = HEADS.iter().flat_map(|(head, more)| {
        text.match_indices(head).filter_map(move |(at, _)| {
            let alone = !text[..at].chars().next_back().is_some_and(in_key);
            let rest: usize = text[at + head.len()..].chars().take_while(|c| in_key(*c)).count();
            (alone && rest >= *more).then_some((at, at + head.len() + rest))
        })
    });
    let pem = text.find("-----BEGIN ").filter(|at| text[*at..].contains("PRIVATE KEY-----")).map(|at| {
        let end = text[at..].find("-----END ").map_or(text.len(), |end| at + end);
        (at, end)
    });
    found.chain(pem).min()
}

pub(super) fn is_in(text: &str) -> bool {
    first(text).is_some()
}

fn scrub(text: &str) -> String {
    let (mut left, mut out) = (text, String::new());
    while let Some((from, to)) = first(left) {
        out.push_str(&left[..from]);
        out.push_str(SHOWN);
        left = &left[to..];
    }
    out + left
}

fn walk(value: &mut Value) {
    match value {
        Value::String(text) if is_in(text) => *text = scrub(text),
        Value::Array(items) => items.iter_mut().for_each(walk),
        Value::Object(entries) => entries.values_mut().for_each(walk),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) fn scrubbed(reply: Reply) -> Result<Reply, ProviderFault> {
    if !is_in(&reply.to_json()) {
        return Ok(reply);
    }
    let unreadable = |error: serde_json::Error| ProviderFault::garbled(error.to_string());
    let mut value = serde_json::to_value(&reply).map_err(unreadable)?;
    walk(&mut value);
    serde_json::from_value(value).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_cut_out_and_ordinary_words_are_not() {
        let key = format!("AKIA{}", "NOTAREALKEY".repeat(2));
        assert_eq!(scrub(&format!("a {key}, b {key}")), "a [secret], b [secret]");
        for fine in ["risk-adjusted-returns-over-a-very-long-time", "sk-short", "0xca9E000000000000000000000000000000000000", "task-1"] {
            assert!(!is_in(fine), "{fine}");
        }
    }
}
