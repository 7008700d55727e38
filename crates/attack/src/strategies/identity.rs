//! The goal as it is.

use super::Strategy;
use model::probe::GoalText;
use model::suite::attack::AttackChannel;

pub(super) struct Identity;

impl Strategy for Identity {
    fn id(&self) -> &'static str {
        "identity"
    }

    fn about(&self) -> &'static str {
        "States the goal plainly, without a disguise."
    }

    fn fits(&self, _: AttackChannel) -> bool {
        true
    }

    fn apply(&self, goal: &GoalText, _: u64) -> Option<Vec<String>> {
        Some(vec![goal.english.clone()])
    }

    fn recover(&self, segments: &[String]) -> Option<String> {
        if let [text] = segments { Some(text.clone()) } else { None }
    }
}
