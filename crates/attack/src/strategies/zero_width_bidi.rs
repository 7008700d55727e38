//! The goal with invisible characters between its letters, inside a direction isolate.

use super::Strategy;
use model::probe::GoalText;
use model::suite::attack::AttackChannel;

pub(super) struct ZeroWidthBidi;

impl Strategy for ZeroWidthBidi {
    fn id(&self) -> &'static str {
        "zero_width_bidi"
    }

    fn about(&self) -> &'static str {
        "Puts zero-width characters between all letters and direction controls around the text."
    }

    fn fits(&self, _: AttackChannel) -> bool {
        true
    }

    fn apply(&self, goal: &GoalText, seed: u64) -> Option<Vec<String>> {
        Some(vec![disguise::encode::zero_width(&goal.english, usize::try_from(seed % 5).unwrap_or_default())])
    }

    fn recover(&self, segments: &[String]) -> Option<String> {
        if let [text] = segments { disguise::decode::zero_width(text) } else { None }
    }
}
