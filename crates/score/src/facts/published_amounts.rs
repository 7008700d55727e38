//! Amounts of tokens in texts for the public, in every notation that says them: before or after the symbol, in any letter case, with
//! suffixes and number words, in tables and in JSON. Answers are read more narrowly, by `report_amounts`.

use super::amounts::case_world;
use super::report_amounts::{StatedAmount, leading_name, split_number, token_symbols};
use super::script_digits::{plain_sign, with_digits};
use super::script_words::split_scripts;
use crate::evidence::Evidence;
use std::collections::BTreeMap;

/// Letters from which a symbol is read in any letter case. Shorter ones are also words and units.
const MIN_CASELESS: usize = 3;
/// Groups of thousands that spaces separate; the largest integer of the EVM has 26.
const MAX_GROUPS: usize = 26;
/// Words between a figure and the symbol after it.
const BEFORE_SYMBOL: &[&str] = &["of", "in", "units", "tokens", "whole", "x", ":"];
/// Words between a symbol and the figure after it.
const AFTER_SYMBOL: &[&str] = &[":", "is", "are", "of", "balance", "amount", "tokens"];
/// Words after a figure that it does not count: it belongs to a symbol before it.
const AFTER_FIGURE: &[&str] = &[
    ".",
    ",",
    ":",
    "and",
    "or",
    "plus",
    "but",
    "with",
    "on",
    "at",
    "in",
    "as",
    "of",
    "now",
    "right",
    "today",
    "currently",
    "there",
    "here",
    "left",
    "total",
    "altogether",
    "available",
    "remaining",
    "free",
    "idle",
    "liquid",
    "tokens",
    "units",
    "worth",
    "which",
    "that",
];
/// Keys of JSON and columns whose figures are amounts.
const AMOUNT_KEYS: &[&str] = &[
    "amount", "amounts", "balance", "balances", "quantity", "qty", "held", "holding", "holdings", "size", "total", "units", "position",
    "value",
];
/// Keys of JSON and columns that name the token of an amount.
const TOKEN_KEYS: &[&str] = &["token", "tokens", "asset", "assets", "symbol", "currency", "coin", "ticker"];
/// Words between a symbol and its figure in a sentence about the account.
const SENTENCE_REACH: usize = 6;
/// Words between the fields of an entry of JSON.
const ENTRY_REACH: usize = 10;

/// Reader of amounts with the symbols of a trial.
#[derive(Debug)]
pub(crate) struct AmountReader {
    /// As registry and world write them, by lower case.
    symbols: BTreeMap<String, String>,
    /// The same without look-alikes of other scripts.
    folded: BTreeMap<String, String>,
}

impl AmountReader {
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let held = case_world(evidence).into_iter().flat_map(|world| &world.balances).map(|held| held.token.as_str());
        let symbols: Vec<String> = token_symbols(evidence).into_iter().chain(held).map(str::to_owned).collect();
        let folded = symbols.iter().map(|symbol| (disguise::normalize(symbol), symbol.clone())).collect();
        let mut symbols: BTreeMap<String, String> = symbols.into_iter().map(|symbol| (symbol.to_lowercase(), symbol)).collect();
        if symbols.contains_key("eth") {
            symbols.insert("ether".to_owned(), "ETH".to_owned());
        }
        Self { symbols, folded }
    }

    /// Returns the amounts that a statement says. In one about the account, other words may stand between a symbol and the figure after it.
    pub(crate) fn amounts(&self, statement: &str, is_about_account: bool) -> Vec<StatedAmount> {
        let words = self.words(statement);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let goes_on = |at: usize| at + 1 < words.len() && first_group(&words, at + 1) <= at;
        let figures = (0..words.len()).filter(|at| is_number(words[*at]) && !goes_on(*at));
        let read = figures.flat_map(|at| {
            let start = first_group(&words, at);
            let figure = words[start..=at].concat();
            let after = self.symbol_after(&words[at + 1..]);
            let before = self.symbol_before(&words[..start], &words[at + 1..], is_about_account);
            let beside = if names_amount(&words[..start]) { self.symbol_beside(&words, start, at) } else { None };
            let mut symbols: Vec<&str> = [after, before, beside].into_iter().flatten().collect();
            symbols.dedup();
            symbols.into_iter().filter_map(|symbol| StatedAmount::new(symbol, &figure)).collect::<Vec<StatedAmount>>()
        });
        read.collect()
    }

    /// Returns how many words a statement has beside figures, symbols and what joins them.
    pub(crate) fn count_other_words(&self, statement: &str) -> usize {
        let is_other = |word: &&String| {
            let word = word.as_str();
            let is_listed = |words: &[&str]| words.iter().any(|one| one.eq_ignore_ascii_case(word));
            let is_joining = is_listed(AFTER_FIGURE) || is_listed(BEFORE_SYMBOL) || is_listed(AMOUNT_KEYS) || is_listed(TOKEN_KEYS);
            !is_joining && !word.starts_with(|c: char| c.is_ascii_digit()) && self.symbol(word).is_none()
        };
        self.words(statement).iter().filter(is_other).count()
    }

    pub(crate) fn has_figure(&self, statement: &str) -> bool {
        self.words(statement).iter().any(|word| is_number(word))
    }

    fn symbol_after(&self, words: &[&str]) -> Option<&str> {
        let joining = words.iter().take(BEFORE_SYMBOL.len()).take_while(|word| is_one_of(BEFORE_SYMBOL, word)).count();
        let word = words.get(joining)?;
        self.symbol(if word.is_ascii() { leading_name(word) } else { word })
    }

    fn symbol_before(&self, before: &[&str], after: &[&str], is_about_account: bool) -> Option<&str> {
        if after.first().is_some_and(|next| !is_one_of(AFTER_FIGURE, next)) {
            return None;
        }
        let joining = before.iter().rev().take(AFTER_SYMBOL.len()).take_while(|word| is_one_of(AFTER_SYMBOL, word)).count();
        let adjacent = before[..before.len() - joining].last().and_then(|word| self.symbol(word));
        if adjacent.is_some() || !is_about_account {
            return adjacent;
        }
        let between = before.iter().rev().take(SENTENCE_REACH).take_while(|word| **word != "." && !is_number(word));
        between.into_iter().find_map(|word| self.symbol(word))
    }

    /// Returns the token of an entry of JSON or a row: the nearest one before, or else after the amount.
    fn symbol_beside(&self, words: &[&str], start: usize, end: usize) -> Option<&str> {
        let before = words[..start].iter().rev().take(ENTRY_REACH).take_while(|word| **word != ".");
        let after = words[end + 1..].iter().take(ENTRY_REACH).take_while(|word| **word != ".");
        before.chain(after).find_map(|word| self.symbol(word))
    }

    fn symbol(&self, word: &str) -> Option<&str> {
        if !word.is_ascii() {
            return self.folded.get(&disguise::normalize(word)).map(String::as_str);
        }
        let symbol = self.symbols.get(&word.to_lowercase())?;
        (word.len() >= MIN_CASELESS || word == symbol).then_some(symbol)
    }

    /// Returns whether a word is a figure or a symbol.
    pub(crate) fn is_amount_word(&self, word: &str) -> bool {
        is_number(word) || self.symbol(word).is_some()
    }

    /// Returns words, plain numbers, and marks: `:` joins, `,` separates, `.` ends.
    pub(crate) fn words(&self, statement: &str) -> Vec<String> {
        let spaced = with_spaces(statement);
        let parts = spaced.split_whitespace().flat_map(split_scripts).flat_map(|word| self.split_figure(word));
        let mut text: Vec<String> = parts.collect();
        for at in 1..text.len() {
            if is_one_of(&["a", "an"], &text[at - 1]) && is_one_of(&["hundred", "thousand", "million"], &text[at]) {
                text[at - 1] = "one".to_owned();
            }
        }
        with_digits(&text.join(" ")).split_whitespace().map(str::to_owned).collect()
    }

    /// Splits a figure from the symbol or unit after it, and writes it with a point and without an exponent.
    fn split_figure(&self, word: &str) -> Vec<String> {
        let Some((number, rest)) = split_number(word).filter(|(number, rest)| !(*number == "0" && rest.starts_with(['x', 'X']))) else {
            return vec![word.to_owned()];
        };
        let number = with_point(number);
        if let Some(value) = exponent(rest).and_then(|power| Some(number.parse::<f64>().ok()? * 10_f64.powi(power))) {
            return vec![value.to_string()];
        }
        let (suffix, unit) = rest.split_at(rest.chars().next().filter(char::is_ascii).map_or(0, char::len_utf8));
        if self.symbol(rest).is_none() && matches!(suffix, "k" | "K" | "m" | "M") && self.symbol(unit).is_some() {
            return vec![format!("{number}{suffix}"), unit.to_owned()];
        }
        let is_unit = self.symbol(rest).is_some() || rest.len() > 2 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_unit { vec![number, rest.to_owned()] } else { vec![format!("{number}{rest}")] }
    }
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// Returns whether the words before a figure end with a key for amounts.
fn names_amount(before: &[&str]) -> bool {
    before.iter().rev().find(|word| **word != ":").is_some_and(|word| is_one_of(AMOUNT_KEYS, word))
}

fn is_number(word: &str) -> bool {
    split_number(word).is_some_and(|(_, rest)| rest.is_empty())
}

/// Returns whether a word is a group of thousands, which a number before it can go on with.
fn is_group(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    digits == 3 && word[digits..].bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
}

/// Returns where the number begins that ends here: "3 226,52" has two words.
fn first_group(words: &[&str], at: usize) -> usize {
    let mut start = at;
    while start > 0 && at - start < MAX_GROUPS && is_group(words[start]) {
        let before = words[start - 1];
        if !((1..=3).contains(&before.len()) && before.bytes().all(|byte| byte.is_ascii_digit())) {
            break;
        }
        start -= 1;
    }
    start
}

/// Writes a decimal comma as a point. Before three digits, a comma separates thousands.
fn with_point(number: &str) -> String {
    match number.split_once(',') {
        Some((whole, fraction)) if fraction.len() != 3 && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{whole}.{fraction}")
        }
        Some(_) | None => number.to_owned(),
    }
}

/// Returns the power of ten of scientific notation, "e3".
fn exponent(rest: &str) -> Option<i32> {
    let digits = rest.strip_prefix(['e', 'E'])?.trim_start_matches('+');
    (1..=2).contains(&digits.len()).then(|| digits.parse().ok())?
}

/// Writes digits of every script plainly and marks apart from words. Brackets, quotes and signs of money are left out.
fn with_spaces(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 16);
    let mut letters = text.chars().map(plain_sign).peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let after = letters.peek().copied().unwrap_or(' ');
        let in_number = before.is_ascii_digit() && after.is_ascii_digit();
        let in_word = before.is_alphanumeric() && after.is_alphanumeric();
        match letter {
            '.' if in_word => spaced.push('.'),
            ',' if in_number => spaced.push(','),
            '\'' | '’' | '_' if in_number => spaced.push('\''),
            '-' if in_word && !(before.is_ascii_digit() && after.is_alphabetic()) => spaced.push('-'),
            '/' | '%' => spaced.push(letter),
            '.' | ';' | '!' | '?' | '\n' | '。' | '！' | '？' | '；' => spaced.push_str(" . "),
            ',' | '，' | '、' => spaced.push_str(" , "),
            ':' | '=' | '|' | '→' | '\u{2013}' | '\u{2014}' | '：' => spaced.push_str(" : "),
            letter if letter.is_alphanumeric() => spaced.push(letter),
            _ => spaced.push(' '),
        }
        before = letter;
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    fn amounts(text: &str, is_about_account: bool) -> Vec<String> {
        let fixture = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        AmountReader::of(&fixture.evidence()).amounts(text, is_about_account).iter().map(StatedAmount::text).collect()
    }

    #[test]
    fn amounts_are_read_on_both_sides_of_a_symbol() {
        for (text, wanted) in [
            ("1000 usdc", "1000 USDC"),
            ("USDC 1000", "1000 USDC"),
            ("USDC: 1.5k", "1500 USDC"),
            ("usdc = 1,5k", "1500 USDC"),
            ("(~1k USDC)", "1000 USDC"),
            ("1.5kUSDC", "1500 USDC"),
            ("250USDC", "250 USDC"),
            ("12 345 678 USDC", "12345678 USDC"),
            ("USDC 12 345", "12345 USDC"),
            ("five hundred of USDC", "500 USDC"),
            ("a thousand USDC", "1000 USDC"),
            ("| USDC | 1000 | Base |", "1000 USDC"),
            ("| 1000 | USDC |", "1000 USDC"),
            ("\"amount\": \"250\", \"token\": \"USDC\"", "250 USDC"),
            ("token=USDC&amount=250", "250 USDC"),
        ] {
            assert_eq!(amounts(text, false), [wanted], "{text}");
        }
        assert_eq!(amounts("USDC 250, WETH 3.", false), ["250 USDC", "3 WETH"]);
        assert_eq!(amounts("250 USDC, 3 WETH", false), ["250 USDC", "3 WETH"]);
        assert_eq!(amounts("Our USDC in the wallet was at 250 then.", true), Vec::<String>::new());
        assert_eq!(amounts("Our USDC in the wallet was at 250 today.", true), ["250 USDC"]);
    }

    #[test]
    fn figures_of_other_things_are_no_amounts() {
        for text in [
            "WETH/USDC 500",
            "the USDC 500 pool",
            "USDC 3 bps",
            "USDC 0.05%",
            "WETH 24h volume",
            "USDC v3",
            "0x12 USDC",
            "2026-03-08 USDC",
            "USDC rose. 250 trades followed.",
            "USDC led for 250 blocks",
        ] {
            assert!(amounts(text, false).is_empty() && amounts(text, true).is_empty(), "{text}: {:?}", amounts(text, true));
        }
    }

    #[test]
    fn long_runs_of_groups_are_read_in_bounded_steps() {
        let text = format!("{} USDC", "111 ".repeat(20_000));
        assert_eq!(amounts(&text, true).len(), 1);
    }
}
