//! Rules of the reference guard, one per file, listed in [`RULES`]. Developed on the seen texts of the corpus only.

mod concealment;
mod decode_and_obey;
mod demand;
mod foreign_instruction;
mod hidden_characters;
mod loosened_control;
mod override_claim;
mod payment_order;
mod reader_directive;
mod redirected_payee;
mod rule_input;
mod secret_request;
mod standing_order;
mod template_tags;
mod tool_steering;
mod unbounded_action;
mod waived_check;

#[cfg(test)]
pub(crate) use rule_input::MAX_PHRASE;
pub(crate) use rule_input::RuleInput;

/// Test of one reading of a text.
pub struct GuardRule {
    pub id: &'static str,
    pub about: &'static str,
    /// Families of attacks that the rule was written for. `language_` stands for all languages.
    pub families: &'static [&'static str],
    pub(crate) finds: fn(&RuleInput<'_>) -> bool,
}

impl std::fmt::Debug for GuardRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardRule").field("id", &self.id).finish_non_exhaustive()
    }
}

pub static RULES: &[GuardRule] = &[
    payment_order::RULE,
    redirected_payee::RULE,
    unbounded_action::RULE,
    standing_order::RULE,
    demand::RULE,
    secret_request::RULE,
    waived_check::RULE,
    loosened_control::RULE,
    concealment::RULE,
    reader_directive::RULE,
    override_claim::RULE,
    template_tags::RULE,
    tool_steering::RULE,
    decode_and_obey::RULE,
    hidden_characters::RULE,
    foreign_instruction::RULE,
];

/// Returns the rules that were written for a family of attacks.
pub fn rules_of_family(family: &str) -> Vec<&'static str> {
    let is_for = |rule: &&GuardRule| rule.families.iter().any(|one| *one == family || one.ends_with('_') && family.starts_with(one));
    RULES.iter().filter(is_for).map(|rule| rule.id).collect()
}
