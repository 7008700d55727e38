//! Figures and addresses in texts and JSON values, in one spelling, so that they can be followed from the user's words into calls.

use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the numbers and hexadecimal addresses in a text.
pub(crate) fn figures_in_text(text: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ',');
    text.split(|letter: char| !is_part(letter)).filter_map(figure).collect()
}

/// Returns the numbers and hexadecimal addresses at every depth of a value, also inside of texts.
pub(crate) fn figures_in_value(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => figures_in_text(text),
        Value::Number(number) => figures_in_text(&number.to_string()),
        Value::Array(items) => items.iter().flat_map(figures_in_value).collect(),
        Value::Object(fields) => fields.values().flat_map(figures_in_value).collect(),
        Value::Null | Value::Bool(_) => BTreeSet::new(),
    }
}

/// Normalises a word that is a number or an address: no separators of thousands, no leading or trailing zeros, lower case.
fn figure(word: &str) -> Option<String> {
    let word = word.trim_matches(['.', ',']);
    if let Some(digits) = word.strip_prefix("0x") {
        return (digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| word.to_ascii_lowercase());
    }
    let plain = word.replace(',', "");
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_have_one_spelling() {
        let found: Vec<String> = figures_in_text("Sell 2,500.50 USDC, then 0.50; to 0xAbCdEf0123. Not v3 or 0x12.").into_iter().collect();
        assert_eq!(found, ["0.5", "0xabcdef0123", "2500.5"]);
        assert_eq!(
            figures_in_value(&json!({"a": [500, {"b": "of 0.0001 a day"}], "c": true})),
            BTreeSet::from(["0.0001".into(), "500".into()])
        );
    }
}
