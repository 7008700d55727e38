//! Dispensation from a check, a limit or a confirmation.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "waived_check",
    about: "Dispensation from a check, a limit or a confirmation.",
    families: &["memory", "agent_message", "crescendo", "patient"],
    finds,
};

/// Phrases in turns of the user after which the next request is not an ordinary one.
const MIN_BY_USER: usize = 2;

fn finds(input: &RuleInput<'_>) -> bool {
    if !input.is_untrusted() {
        return input.parsed.of(&[Concept::Waive]).take(MIN_BY_USER).count() == MIN_BY_USER;
    }
    input.parsed.of(&[Concept::Waive]).any(|hit| !input.is_reported(hit) && !input.parsed.is_negated(hit))
}
