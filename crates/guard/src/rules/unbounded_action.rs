//! Command to move, trade or approve everything.

use super::GuardRule;
use super::rule_input::{ACTS, RuleInput};
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "unbounded_action",
    about: "Command to move, trade or approve everything.",
    families: &["identity", "unmarked_tool_result"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    input.is_untrusted() && input.commands(ACTS).any(|hit| input.is_near(hit, &[Concept::Everything], 60) && !input.is_reported(hit))
}
