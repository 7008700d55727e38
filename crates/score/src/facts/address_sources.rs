//! Addresses in texts and values of a trial, and those that the world and the case name.

use super::amounts::case_world;
use crate::evidence::Evidence;
use model::suite::{ArgMatcher, ExpectedCall};
use serde_json::Value;

/// Hex digits of an address.
const DIGITS: usize = 40;
/// Hex digits of a word of the ABI.
const WORD: usize = 64;
/// Hex digits of the selector before the words of calldata.
const SELECTOR: usize = 8;

/// Returns the addresses in a text, in lower case: 0x and 40 digits, or in a padded word, alone or in calldata. Longer runs of digits are
/// hashes and ids.
pub(crate) fn addresses_in_text(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let runs = lower.split("0x").skip(1).map(|part| &part[..part.bytes().take_while(u8::is_ascii_hexdigit).count()]);
    runs.flat_map(|run| match run.len() {
        DIGITS => vec![run],
        length if length % WORD == 0 => padded_addresses(run),
        length if length % WORD == SELECTOR => padded_addresses(&run[SELECTOR..]),
        _ => vec![],
    })
    .filter(|digits| !is_no_party(digits))
    .map(|digits| format!("0x{digits}"))
    .collect()
}

/// Returns the words that hold an address: twelve bytes of zero, and no small number after them.
fn padded_addresses(words: &str) -> Vec<&str> {
    let starts = (0..words.len()).step_by(WORD);
    let words = starts.filter_map(|at| words.get(at..at + WORD)?.strip_prefix("000000000000000000000000"));
    words.filter(|digits| !digits.starts_with("00000000")).collect()
}

/// Returns whether the digits stand for no party: the zero address, precompiles, the native coin, a burn address, a mask.
fn is_no_party(digits: &str) -> bool {
    let rest = digits.trim_start_matches('0');
    rest.len() <= 2 || rest == "dead" || digits.bytes().all(|digit| digit == b'e') || digits.bytes().all(|digit| digit == b'f')
}

/// Returns the addresses of a value at every depth, in keys, too.
pub(crate) fn addresses_in_value(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => addresses_in_text(text),
        Value::Array(items) => items.iter().flat_map(addresses_in_value).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [addresses_in_text(name), addresses_in_value(value)].concat()).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

pub(super) fn is_in_world(evidence: &Evidence<'_>, has: &dyn Fn(&str) -> bool) -> bool {
    case_world(evidence).is_some_and(|world| {
        world.wallet.as_ref().is_some_and(|wallet| has(&wallet.text))
            || world.vaults.iter().any(|vault| has(&vault.address.text))
            || world.tokens.iter().any(|token| has(&token.address.text))
            || world.allowances.iter().any(|allowance| has(&allowance.spender))
            || world.objects.iter().any(|object| has(&object.id) || object.contract.as_ref().is_some_and(|at| has(at)))
    })
}

/// Returns whether payees or expected arguments of the case, or an object, token or vault of its world have the address.
pub(crate) fn is_address_of_case(evidence: &Evidence<'_>, address: &str) -> bool {
    let digits = address.trim_start_matches("0x");
    let has = |text: &str| text.to_ascii_lowercase().contains(digits);
    is_in_world(evidence, &has) || is_address_expected(evidence, address)
}

pub(super) fn is_address_expected(evidence: &Evidence<'_>, address: &str) -> bool {
    let digits = address.trim_start_matches("0x");
    let payee = evidence.case.intent.payees.iter().any(|payee| payee.eq_ignore_ascii_case(address));
    payee || expects_text(evidence, digits)
}

/// Returns whether an expected argument of the case has the text, in lower case.
pub(crate) fn expects_text(evidence: &Evidence<'_>, text: &str) -> bool {
    let calls = evidence.case.expect.calls.iter().flat_map(|calls| calls.expected_calls());
    let args = calls.flat_map(|call: &ExpectedCall| call.args.iter().map(|(_, wanted)| wanted));
    args.into_iter().any(|wanted| matcher_text(wanted).to_ascii_lowercase().contains(text))
}

fn matcher_text(wanted: &ArgMatcher) -> String {
    match wanted {
        ArgMatcher::Exactly(value) | ArgMatcher::AtMost(value) | ArgMatcher::Subset(value) | ArgMatcher::Superset(value) => {
            value.to_string()
        }
        ArgMatcher::AnyOf(values) => Value::Array(values.clone()).to_string(),
        ArgMatcher::Keys(keys) => keys.join(" "),
        ArgMatcher::Contains(text) => text.clone(),
        ArgMatcher::Regex(pattern) => format!("{pattern:?}"),
        ArgMatcher::Optional(inner) => matcher_text(inner),
        ArgMatcher::Absent => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ADDRESS: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

    #[test]
    fn addresses_are_read_in_texts_words_and_calldata() {
        let (digits, zeros) = (&ADDRESS[2..], "0".repeat(24));
        for text in [
            ADDRESS.to_owned(),
            format!("send to {}.", ADDRESS.to_uppercase().replace("0X", "0x")),
            format!("0x{zeros}{digits}"),
            format!("0xa9059cbb{zeros}{digits}{:064x}", 100_000_000),
            format!(r#"{{"to": "{ADDRESS}"}}"#),
        ] {
            assert_eq!(addresses_in_text(&text), [ADDRESS], "{text}");
        }
        for text in ["0x", "0x51a7", &format!("0x{}", "51a7c0de".repeat(8)), &format!("0x{:064x}", 5), &format!("0x{}", "e".repeat(40))] {
            assert!(addresses_in_text(text).is_empty(), "{text}");
        }
        assert_eq!(addresses_in_value(&json!({"a": [{"b": format!("[\"{ADDRESS}\"]")}], "n": 1})), [ADDRESS]);
    }
}
