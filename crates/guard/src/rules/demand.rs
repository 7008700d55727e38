//! Demand of a fee, deposit or refund next to an address.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;
use model::AttackChannel;

pub(super) const RULE: GuardRule = GuardRule {
    id: "demand",
    about: "Demand of a fee, deposit or refund next to an address; in a tool description, any amount next to an address.",
    families: &["chain_metadata", "tool_description"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    let is_demand = |hit| input.is_near(hit, &[Concept::Address], 160) && input.is_near(hit, &[Concept::Asset, Concept::Number], 80);
    // A description has no reason to name an amount and an address.
    let is_description = input.channel == AttackChannel::ToolDescription;
    let is_price = |hit| input.is_near(hit, &[Concept::Number], 120) && input.is_near(hit, &[Concept::Asset], 120);
    input.is_untrusted()
        && (input.parsed.of(&[Concept::Demand]).any(is_demand) || is_description && input.parsed.of(&[Concept::Address]).any(is_price))
}
