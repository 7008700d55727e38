//! Command to pay, trade or grant rights next to an address.

use super::GuardRule;
use super::rule_input::{ACTS, RuleInput};
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "payment_order",
    about: "Command to pay, trade or grant rights next to an address.",
    families: &["identity", "unmarked_tool_result", "chain_metadata", "agent_message"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    let is_addressed = |hit, distance| input.is_near(hit, &[Concept::Address], distance) && !input.is_reported(hit);
    let is_due = |hit| is_addressed(hit, 60) && input.is_near(hit, &[Concept::Number, Concept::Everything], 120);
    input.is_untrusted() && (input.commands(ACTS).any(|hit| is_addressed(hit, 220)) || input.parsed.of(&[Concept::PassivePay]).any(is_due))
}
