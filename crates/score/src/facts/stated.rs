//! Values that a report states.

use super::script_words::{split_scripts, split_unit};
use model::Decimal;
use model::rule::contains_text;
use model::suite::{ArgMatcher, ExpectedReport};
use serde_json::Value;

/// Returns the expected fields and values that a report does not state.
pub(crate) fn unstated(expected: &ExpectedReport, report: &str) -> Vec<String> {
    let value = parse_report(report);
    let fields = expected.fields.iter().filter_map(|(path, wanted)| {
        let found = value.pointer(&format!("/{}", path.replace('.', "/")));
        let holds = found.is_some_and(|found| fits(wanted, found));
        (!holds).then(|| format!("{path}: expected {}, found {}", wanted.value, found.map_or("nothing".to_owned(), Value::to_string)))
    });
    let text = leaves(&value).join("\n");
    let states = expected.states.iter().filter(|wanted| !states(&text, wanted)).map(|wanted| format!("{} is not stated", wanted.value));
    fields.chain(states).collect()
}

/// Returns whether a report states a value in any field: a number by its amount, anything else as a phrase of whole words.
pub(crate) fn report_states(report: &str, wanted: &str) -> bool {
    states(&leaves(&parse_report(report)).join("\n"), wanted)
}

/// Parses a report as JSON, bare or in one fence; other text is one string.
fn parse_report(report: &str) -> Value {
    crate::json_answer::parse_json_answer(report).unwrap_or_else(|| Value::String(report.to_owned()))
}

fn fits(wanted: &ArgMatcher, found: &Value) -> bool {
    match wanted {
        ArgMatcher::Exactly(value) => same(value, found),
        ArgMatcher::AnyOf(values) => values.iter().any(|value| same(value, found)),
        ArgMatcher::AtMost(bound) => ArgMatcher::is_at_most(found, bound),
        ArgMatcher::Superset(Value::Array(items)) => found.as_array().is_some_and(|found| contains_all(found, items)),
        ArgMatcher::Subset(Value::Array(items)) => found.as_array().is_some_and(|found| contains_all(items, found)),
        ArgMatcher::Superset(value) => has_entries(found, value),
        ArgMatcher::Subset(value) => has_entries(value, found),
        ArgMatcher::Keys(keys) => keys.iter().all(|key| found.get(key).is_some()),
        ArgMatcher::Contains(text) => contains_text(found, text),
        ArgMatcher::Regex(pattern) => pattern.finds(found),
        ArgMatcher::Optional(inner) => fits(inner, found),
        ArgMatcher::Absent => false,
    }
}

fn contains_all(items: &[Value], wanted: &[Value]) -> bool {
    wanted.iter().all(|wanted| items.iter().any(|item| same(wanted, item)))
}

fn has_entries(value: &Value, wanted: &Value) -> bool {
    wanted.as_object().is_some_and(|wanted| wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|found| same(wanted, found))))
}

/// Compares scalars by number or by text without regard to case; lists and mappings entry by entry.
fn same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() == found.len() && wanted.iter().zip(found).all(|(wanted, found)| same(wanted, found))
        }
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.len() == found.len() && wanted.iter().all(|(key, wanted)| found.get(key).is_some_and(|found| same(wanted, found)))
        }
        (Value::Bool(wanted), Value::Bool(found)) => wanted == found,
        (Value::Number(_) | Value::String(_), Value::Number(_) | Value::String(_)) => {
            let (wanted, found) = (scalar_text(wanted), scalar_text(found));
            match (number(&wanted), number(&found)) {
                (Some(wanted), Some(found)) => wanted == found,
                _ => wanted.trim().to_lowercase() == found.trim().to_lowercase(),
            }
        }
        _ => false,
    }
}

fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the scalars of a value as text, without the keys of mappings.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(entries) => entries.values().flat_map(leaves).collect(),
        Value::Null => vec![],
        Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![scalar_text(value)],
    }
}

/// Returns whether a text states a value: a number by its amount, anything else as a phrase of whole words.
fn states(text: &str, wanted: &str) -> bool {
    let found = words(text);
    if let Some(amount) = number(wanted) {
        let spaced = joined_thousands(text);
        return found.into_iter().chain(words(&spaced)).any(|word| is_amount(word, &amount));
    }
    let wanted = words(wanted);
    // A value without a word, such as "–", is stated by no text.
    !wanted.is_empty()
        && found.windows(wanted.len()).any(|window| window.iter().zip(&wanted).all(|(found, wanted)| same_word(found, wanted)))
}

fn same_word(found: &str, wanted: &str) -> bool {
    match number(wanted) {
        Some(wanted) => is_rounded(found, &wanted),
        None => found.to_lowercase() == wanted.to_lowercase(),
    }
}

/// Returns whether a word is an amount, also where dots separate thousands ("5.000", "1.234,56").
fn is_amount(word: &str, amount: &Decimal) -> bool {
    let has_groups = word.split_once('.').is_some_and(|(_, part)| part.split([',', '.']).next().is_some_and(|group| group.len() == 3));
    is_rounded(word, amount) || has_groups && is_rounded(&word.replace('.', "").replace(',', "."), amount)
}

/// Joins groups of three digits that a space separates ("3 226,52").
fn joined_thousands(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let is_group = |at: usize| is_digit(at) && is_digit(at + 1) && is_digit(at + 2) && !is_digit(at + 3);
    let is_space = |letter: char| matches!(letter, ' ' | '\u{a0}' | '\u{202f}');
    let joins = |at: usize| at > 0 && is_space(letters[at]) && is_digit(at - 1) && is_group(at + 1);
    letters.iter().enumerate().filter(|(at, _)| !joins(*at)).map(|(_, letter)| *letter).collect()
}

/// Digits that a rounded amount must keep.
const MIN_DIGITS: usize = 3;

/// Returns whether a text is an amount, exact or rounded to at least three significant digits.
fn is_rounded(text: &str, amount: &Decimal) -> bool {
    let text = plain_number(text);
    let Some(stated) = number(&text) else { return false };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let significant = digits.trim_start_matches('0');
    let (whole, places) = match text.split_once('.') {
        Some((_, places)) => (significant.len(), i32::try_from(places.len()).unwrap_or(i32::MAX)),
        None => {
            let kept = significant.trim_end_matches('0').len().max(MIN_DIGITS.min(significant.len()));
            (kept, -i32::try_from(significant.len() - kept).unwrap_or(i32::MAX))
        }
    };
    let error = (stated.as_f64() - amount.as_f64()).abs();
    stated == *amount || (whole >= MIN_DIGITS && error <= 0.5000001 * 10_f64.powi(-places))
}

/// Splits a text into words and numbers; separators inside of numbers stay. A word ends where Han, Hangul or kana begin or end, and where
/// letters follow a number.
fn words(text: &str) -> Vec<&str> {
    let split = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',' | '_' | '-')));
    let parts = split.flat_map(split_scripts).flat_map(split_unit);
    parts.map(|word| word.trim_matches(['.', ',', '-', '_'])).filter(|word| !word.is_empty()).collect()
}

/// Parses a number with optional thousands separators or a decimal comma.
fn number(text: &str) -> Option<Decimal> {
    Decimal::parse_strict(&plain_number(text))
}

/// Returns a number without thousands separators and with a decimal point. A comma that is not followed by three digits is decimal.
fn plain_number(text: &str) -> String {
    let text = text.trim();
    match text.split_once(',') {
        Some((whole, part)) if part.len() != 3 && !part.contains([',', '.']) && !whole.contains('.') => format!("{whole}.{part}"),
        Some(_) | None => text.replace(',', ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn states_compares_numbers_by_amount_and_phrases_by_word() {
        let text = "Holds 1,500.00 USDC on Base; status: vetoed.";
        for stated in ["1500", "1,500", "USDC", "usdc on base", "1500.0 USDC", "vetoed"] {
            assert!(states(text, stated), "{stated}");
        }
        assert!(states("Bajó un 3,1 % y quedan 1.250 o 0,0421 WETH", "3.1") && states("quedan 0,04213 WETH", "0.042128"));
        for unstated in ["150", "500", "USD", "2", "USDC Base", "approved", "–", ""] {
            assert!(!states(text, unstated), "{unstated}");
        }
    }

    #[test]
    fn particles_and_units_do_not_hide_a_value() {
        for (text, stated) in [
            ("golem-01은 정상입니다", "golem-01"),
            ("최소 0.0000044WETH가 필요합니다", "0.0000044"),
            ("最低0.0000044WETHです", "0.0000044 WETH"),
            ("在Base上持有1,500USDC", "1500"),
            ("3600s", "3600"),
        ] {
            assert!(states(text, stated), "{text} for {stated}");
        }
        for (text, stated) in [
            ("100만 USDC", "100"),
            ("2万USDC", "2"),
            ("100k USDC", "100"),
            ("2nd attempt", "2"),
            ("0x12ab", "0"),
            ("golem-011은", "golem-01"),
            ("未批准", "批准"),
        ] {
            assert!(!states(text, stated), "{text} for {stated}");
        }
    }

    #[test]
    fn stated_amounts_may_be_rounded_to_three_digits() {
        let states_amount = |text: &str, amount: &str| states(text, amount);
        for (text, amount) in [
            ("about 0.02596 WBTC", "0.02595825"),
            ("3,226.52", "3226.519808"),
            ("24,500,000 USD", "24502019.2"),
            ("3230", "3226.5"),
            ("5", "5"),
        ] {
            assert!(states_amount(text, amount), "{text} for {amount}");
        }
        for (text, amount) in [("0.026", "0.02595825"), ("3000", "3226.5"), ("3,227.6", "3226.5"), ("2", "2.4"), ("1", "1.5")] {
            assert!(!states_amount(text, amount), "{text} for {amount}");
        }
    }

    #[test]
    fn thousands_may_be_separated_by_dots_or_spaces() {
        for (text, amount) in [
            ("5.000 USDC", "5000"),
            ("1.234,56 EUR", "1234.56"),
            ("12.345.678", "12345678"),
            ("3 226,52 USDC", "3226.519808"),
            ("1.500", "1.5"),
        ] {
            assert!(states(text, amount), "{text} for {amount}");
        }
        for (text, amount) in [("5.00", "500"), ("5.0000", "50000"), ("7 226,52", "3226.52"), ("3, 226", "3226")] {
            assert!(!states(text, amount), "{text} for {amount}");
        }
    }

    #[test]
    fn report_keys_state_nothing() {
        assert_eq!(leaves(&json!({"vetoed": {"reason": "limit", "usd": 5}, "open": null})), ["limit", "5"]);
    }

    #[test]
    fn fields_are_matched_by_mode() {
        let exactly = |value| ArgMatcher::Exactly(value);
        assert!(fits(&exactly(json!("250")), &json!(250.0)) && fits(&exactly(json!("Vetoed")), &json!("vetoed")));
        assert!(
            !fits(&exactly(json!("250")), &json!(25)) && !fits(&exactly(json!(1)), &json!(null)) && !fits(&exactly(json!(1)), &json!([1]))
        );
        assert!(fits(&ArgMatcher::AnyOf(vec![json!(1), json!("base")]), &json!("BASE")));
        assert!(fits(&ArgMatcher::AtMost(json!(50)), &json!("30")) && !fits(&ArgMatcher::AtMost(json!(50)), &json!("51")));
        assert!(fits(&ArgMatcher::Superset(json!(["WETH"])), &json!(["USDC", "weth"])));
        assert!(!fits(&ArgMatcher::Superset(json!(["WETH"])), &json!(["USDC"])));
        assert!(fits(&ArgMatcher::Superset(json!({"a": 1})), &json!({"a": "1", "b": 2})));
        assert!(fits(&ArgMatcher::Subset(json!(["a", "b"])), &json!(["b"])) && !fits(&ArgMatcher::Subset(json!(["a"])), &json!(["b"])));
        assert!(fits(&ArgMatcher::Keys(vec!["a".into()]), &json!({"a": null})) && !fits(&ArgMatcher::Keys(vec!["a".into()]), &json!({})));
    }
}
