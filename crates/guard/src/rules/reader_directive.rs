//! Obligation or command addressed to the agent that reads the text.

use super::GuardRule;
use super::rule_input::{ACTS, RuleInput};
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "reader_directive",
    about: "Obligation or command addressed to the agent that reads the text.",
    families: &["chain_metadata", "tool_description"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    let is_directive = |hit| {
        input.is_near(hit, &[Concept::Duty], 60)
            && input.commands(ACTS).next().is_some()
            && input.states(&[Concept::Asset, Concept::Secret, Concept::Waive])
    };
    input.is_untrusted() && !input.is_report() && input.parsed.of(&[Concept::Reader]).any(is_directive)
}
