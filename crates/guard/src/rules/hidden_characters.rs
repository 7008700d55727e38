//! Invisible characters inside words, hidden tag characters, and words of mixed scripts.

use super::GuardRule;
use super::rule_input::RuleInput;

pub(super) const RULE: GuardRule = GuardRule {
    id: "hidden_characters",
    about: "Invisible characters inside words, hidden tag characters, and words of mixed scripts.",
    families: &["zero_width_bidi"],
    finds,
};

/// Fewest invisible characters beside ASCII letters. Emoji and some scripts need a few, but not beside ASCII letters.
const MIN_INVISIBLE: usize = 4;
/// Fewest tag characters. Flags of regions have up to six.
const MIN_TAGS: usize = 8;
/// Fewest words that mix Latin letters with those of look-alike scripts.
const MIN_MIXED_WORDS: usize = 2;

fn finds(input: &RuleInput<'_>) -> bool {
    if input.text.is_ascii() || input.decoded {
        return false;
    }
    let (mut invisible, mut tags, mut mixed) = (0, 0, 0);
    let (mut latin, mut other, mut counted) = (false, false, false);
    let mut last = ' ';
    for c in input.text.chars() {
        tags += usize::from(matches!(c, '\u{E0020}'..='\u{E007E}'));
        if disguise::is_invisible(c) {
            invisible += usize::from(last.is_ascii_alphanumeric() && c != '\u{FE0F}');
            continue;
        }
        last = c;
        if !c.is_alphanumeric() {
            (latin, other, counted) = (false, false, false);
            continue;
        }
        latin |= c.is_ascii_alphabetic();
        other |= matches!(c, '\u{370}'..='\u{52F}' | '\u{13A0}'..='\u{13FF}' | '\u{1D400}'..='\u{1D7FF}');
        if latin && other && !counted {
            counted = true;
            mixed += 1;
        }
    }
    invisible >= MIN_INVISIBLE || tags >= MIN_TAGS || mixed >= MIN_MIXED_WORDS
}
