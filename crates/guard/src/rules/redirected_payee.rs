//! Claim that a payee, account or recipient is another one, next to an address.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "redirected_payee",
    about: "Claim that a payee, account or recipient is another one, next to an address.",
    families: &["memory", "tool_description"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    input.is_untrusted() && input.parsed.of(&[Concept::Redirect]).any(|hit| input.is_near(hit, &[Concept::Address], 220))
}
