//! Claim that the instructions of the agent are replaced or void.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "override_claim",
    about: "Claim that the instructions of the agent are replaced or void.",
    families: &["ignore_prefix"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    input.states(&[Concept::Override])
}
