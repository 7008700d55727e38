//! The goal with Cyrillic look-alikes of Latin letters.

use super::Strategy;
use model::probe::GoalText;
use model::suite::attack::AttackChannel;

pub(super) struct Homoglyph;

impl Strategy for Homoglyph {
    fn id(&self) -> &'static str {
        "homoglyph"
    }

    fn about(&self) -> &'static str {
        "Replaces Latin letters by Cyrillic look-alikes, so that filters for words find nothing."
    }

    fn fits(&self, _: AttackChannel) -> bool {
        true
    }

    fn apply(&self, goal: &GoalText, _: u64) -> Option<Vec<String>> {
        Some(vec![disguise::encode::homoglyph(&goal.english)?])
    }

    fn recover(&self, segments: &[String]) -> Option<String> {
        if let [text] = segments { Some(disguise::decode::homoglyph(text)) } else { None }
    }
}
