//! Check, limit or review that a text declares skipped, suspended or unnecessary.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "loosened_control",
    about: "Check, limit or review that a text declares skipped, suspended or unnecessary.",
    families: &["memory", "agent_message", "unmarked_tool_result"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    let loosens = |hit| input.is_near(hit, &[Concept::Control], 24) && !input.parsed.is_negated(hit) && !input.is_reported(hit);
    input.is_untrusted() && !input.is_report() && input.parsed.of(&[Concept::Relax]).any(loosens)
}
