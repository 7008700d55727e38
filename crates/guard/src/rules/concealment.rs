//! Request to hide something from the owner or the user.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule =
    GuardRule { id: "concealment", about: "Request to hide something from the owner or the user.", families: &["agent_message"], finds };

fn finds(input: &RuleInput<'_>) -> bool {
    input.is_untrusted() && input.states(&[Concept::Conceal])
}
