//! Word boundaries that are not written with spaces: changes of script, and units after a number.

/// Writing system, as far as it separates words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordScript {
    Han,
    Hangul,
    Kana,
    Other,
}

impl WordScript {
    fn of(letter: char) -> Self {
        match letter {
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2ffff}' => Self::Han,
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}' => Self::Hangul,
            '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}' => Self::Kana,
            _ => Self::Other,
        }
    }
}

/// Numerals that multiply the number before them.
const EAST_ASIAN_FACTORS: &str = "십백천만억조十百千万萬亿億兆";
/// Letters after a number that change its value, or make it an ordinal.
const FACTORS: [&str; 13] = ["k", "m", "b", "t", "bn", "mn", "mm", "mio", "tn", "st", "nd", "rd", "th"];

/// Splits a word where its script changes. A number stays with a numeral that multiplies it.
pub(super) fn split_scripts(word: &str) -> Vec<&str> {
    let (mut parts, mut from) = (vec![], 0);
    let mut last: Option<char> = None;
    for (at, letter) in word.char_indices() {
        let changes = last.is_some_and(|last| WordScript::of(last) != WordScript::of(letter));
        let multiplies = last.is_some_and(|last| last.is_ascii_digit()) && EAST_ASIAN_FACTORS.contains(letter);
        if changes && !multiplies {
            parts.push(&word[from..at]);
            from = at;
        }
        last = Some(letter);
    }
    parts.push(&word[from..]);
    parts
}

/// Splits a number from the unit after it, unless that changes its value. A hexadecimal number stays whole.
pub(super) fn split_unit(word: &str) -> Vec<&str> {
    let end = word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(word.len());
    let (number, unit) = word.split_at(end);
    let is_unit = !unit.is_empty() && !word.starts_with("0x") && unit.chars().all(|c| c.is_ascii_alphabetic());
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    if is_number && is_unit && !FACTORS.contains(&unit.to_lowercase().as_str()) { vec![number, unit] } else { vec![word] }
}
