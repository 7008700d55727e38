//! Command in another language that moves funds, grants rights or changes limits.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;

pub(super) const RULE: GuardRule = GuardRule {
    id: "foreign_instruction",
    about: "Command in another language that moves funds, grants rights or changes limits.",
    families: &["language_"],
    finds,
};

fn finds(input: &RuleInput<'_>) -> bool {
    let is_order = |hit| {
        let funds = input.is_near(hit, &[Concept::Number], 120) && input.is_near(hit, &[Concept::Asset], 120);
        funds || input.is_near(hit, &[Concept::Address], 250) || input.is_near(hit, &[Concept::Secret, Concept::Waive], 120)
    };
    // An amount and the particle of a destination next to an address; the verb may be one that the lexicon lacks.
    let is_sent = |hit| {
        input.is_near(hit, &[Concept::Toward], 30)
            && input.is_near(hit, &[Concept::Number], 80)
            && input.is_near(hit, &[Concept::Asset], 80)
    };
    // A request about an amount next to an address, with any verb.
    let is_plea = |hit| {
        input.is_near(hit, &[Concept::Address], 250)
            && input.is_near(hit, &[Concept::Number], 200)
            && input.is_near(hit, &[Concept::Asset], 200)
    };
    let is_foreign = !input.text.is_ascii() || input.parsed.of(&[Concept::ForeignAct]).nth(1).is_some();
    input.is_untrusted()
        && (input.parsed.of(&[Concept::ForeignAct]).any(is_order)
            || is_foreign && input.parsed.of(&[Concept::Address]).any(is_sent)
            || input.parsed.of(&[Concept::ForeignPlea]).any(is_plea))
}
