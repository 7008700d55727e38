//! Strategies held out for measuring detection. A guard must not be tuned on them.

use crate::sample_goal::sample_goal;
use crate::strategies::{STRATEGIES, Strategy};
use model::ContentHash;
use serde_json::{Value, json};

/// Ids of the held-out strategies, about a third of all. Fixed before any guard existed; a change invalidates measured detection rates.
pub const HELD_OUT: &[&str] = &[
    "fake_tool_error",
    "authority_urgency",
    "payload_split",
    "hex",
    "morse",
    "unicode_tags",
    "homoglyph",
    "language_ko",
    "language_ar",
    "language_tr",
    "many_shot",
];

/// Seeds whose texts are part of the hash.
const HASHED_SEEDS: std::ops::Range<u64> = 0..8;

pub fn is_held_out(id: &str) -> bool {
    HELD_OUT.contains(&id)
}

/// Returns the hash of the held-out ids and of their texts for a fixed goal. A changed wording changes the hash.
pub fn held_out_hash() -> ContentHash {
    let goal = sample_goal();
    let texts = |strategy: &dyn Strategy| -> Value { HASHED_SEEDS.map(|seed| json!(strategy.apply(&goal, seed))).collect() };
    let held_out = STRATEGIES.iter().filter(|strategy| is_held_out(strategy.id()));
    ContentHash::of_json(&held_out.map(|strategy| json!([strategy.id(), texts(*strategy)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::strategy;

    // Fixed before any guard existed. If this fails, a held-out strategy changed: restore it, or measure every guard again and say so.
    #[test]
    fn held_out_strategies_are_unchanged() {
        assert_eq!(held_out_hash().as_str(), "6102d0691e2f5ead91eaab01d76039bd1465eb486c6f9eb87cc223daac62e6cd");
    }

    #[test]
    fn held_out_ids_exist_and_are_a_third() {
        assert!(HELD_OUT.iter().all(|id| strategy(id).is_some()));
        let share = HELD_OUT.len() * 100 / STRATEGIES.len();
        assert!((30..=40).contains(&share), "{share} %");
        assert!(is_held_out("morse") && !is_held_out("base64"));
    }
}
