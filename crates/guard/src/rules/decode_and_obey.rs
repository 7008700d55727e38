//! Request to decode a text and follow it.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule =
    GuardRule { id: "decode_and_obey", about: "Request to decode a text and follow it.", families: &["base64", "rot13", "leet"], finds };

/// Phrases that together ask for it.
const MIN_PHRASES: usize = 2;

fn finds(input: &RuleInput<'_>) -> bool {
    input.parsed.of(&[Concept::Decode]).filter(|hit| !input.is_reported(*hit)).take(MIN_PHRASES).count() == MIN_PHRASES
}
