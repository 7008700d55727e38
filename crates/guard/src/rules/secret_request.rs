//! Command to give away keys, phrases, prompts or private data.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "secret_request",
    about: "Command to give away keys, phrases, prompts or private data.",
    families: &["tool_description", "identity"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    let asks = |hit| {
        let sends_data = input.is_near(hit, &[Concept::PrivateData], 80) && input.is_near(hit, &[Concept::Destination], 140);
        (sends_data || input.is_near(hit, &[Concept::Secret], 100)) && !input.is_reported(hit)
    };
    input.is_untrusted() && input.commands(&[Concept::Disclose]).any(asks)
}
