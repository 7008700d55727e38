//! Text that makes the agent prefer one tool or distrust the others.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "tool_steering",
    about: "Text that makes the agent prefer one tool or distrust the others.",
    families: &["tool_description"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    input.is_untrusted() && input.states(&[Concept::Steer])
}
