//! Command to move funds or trade that holds for all future tasks.

use super::GuardRule;
use super::rule_input::{ACTS, RuleInput};
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "standing_order",
    about: "Command to move funds or trade that holds for all future tasks.",
    families: &["memory", "identity"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    let is_order = |hit| {
        input.is_near(hit, &[Concept::Standing], 80)
            && input.is_near(hit, &[Concept::Address, Concept::Everything, Concept::Waive, Concept::Asset], 120)
    };
    input.is_untrusted() && input.commands(ACTS).any(is_order)
}
