//! Which values a persona may name: those written in it.

use super::phrases::named_values;
use super::{UserFault, UserReply};
use model::suite::Persona;
use std::collections::BTreeSet;

/// The values that are the persona's to name.
#[derive(Debug, Clone)]
pub(super) struct AllowedValues {
    known: BTreeSet<String>,
    values: BTreeSet<String>,
}

impl AllowedValues {
    /// `known` are names that are values wherever they stand: tokens and chains.
    pub(super) fn of_persona(persona: &Persona, known: &BTreeSet<String>) -> Self {
        let facts = persona.facts.values().map(|fact| &fact.says);
        let corrections = persona.corrections.iter().map(|correction| &correction.says);
        let texts = [&persona.opening, &persona.goal, &persona.consent].into_iter().chain(facts).chain(corrections);
        Self::of_texts(texts.map(String::as_str), known)
    }

    pub(super) fn of_texts<'t>(texts: impl Iterator<Item = &'t str>, known: &BTreeSet<String>) -> Self {
        Self { known: known.clone(), values: texts.flat_map(|text| named_values(text, known)).collect() }
    }

    /// A user that names a value it never had is broken; what the subject makes of it would be nobody's result.
    pub(super) fn check(&self, reply: UserReply) -> Result<UserReply, UserFault> {
        let UserReply::Says(spoken) = &reply else { return Ok(reply) };
        match named_values(&spoken.text, &self.known).into_iter().find(|value| !self.values.contains(value)) {
            Some(value) => Err(UserFault::Simulator(format!("the persona named {value}, which is not its own"))),
            None => Ok(reply),
        }
    }
}
