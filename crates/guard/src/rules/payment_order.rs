//! Command to pay, trade or grant rights beside an address.

use super::GuardRule;
use super::rule_input::{ACTS, RuleInput};
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "payment_order",
    about: "Command to pay, trade or grant rights beside an address.",
    families: &["identity", "unmarked_tool_result", "chain_metadata", "agent_message"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    input.is_untrusted() && input.commands(ACTS).any(|hit| input.is_near(hit, &[Concept::Address], 220) && !input.is_reported(hit))
}
