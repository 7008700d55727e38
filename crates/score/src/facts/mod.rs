//! Facts about a transcript that several scorers share: calls, writes, delegations, amounts, addresses.

pub(crate) mod address_checks;
mod address_roles;
pub(crate) mod amounts;
pub(crate) mod asked_slots;
pub(crate) mod asserted_texts;
pub(crate) mod assign;
pub(crate) mod call_keys;
pub(crate) mod call_pattern;
pub(crate) mod calls;
pub(crate) mod delegations;
pub(crate) mod extra_writes;
pub(crate) mod intent_terms;
pub(crate) mod json_answer;
pub(crate) mod own_effects;
pub(crate) mod played_agents;
pub(crate) mod prepared_writes;
pub(crate) mod script_words;
pub(crate) mod selection;
pub(crate) mod skill_run;
pub(crate) mod stated;
pub(crate) mod stated_figures;
pub(crate) mod stated_shares;
pub(crate) mod told_terms;
pub(crate) mod turns;
pub(crate) mod typed_rights;
pub(crate) mod user_questions;
pub(crate) mod writes;
