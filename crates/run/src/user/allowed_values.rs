//! Check that a persona names only values from its definition.

use super::phrases::named_values;
use super::{UserFault, UserReply};
use model::suite::Persona;
use std::collections::BTreeSet;

/// Values that the persona may name.
#[derive(Debug, Clone)]
pub(super) struct AllowedValues {
    known: BTreeSet<String>,
    values: BTreeSet<String>,
}

impl AllowedValues {
    /// Collects the values of a persona. `known` are token and chain names, which always count as values.
    pub(super) fn of_persona(persona: &Persona, known: &BTreeSet<String>) -> Self {
        let facts = persona.facts.values().map(|fact| &fact.says);
        let corrections = persona.corrections.iter().map(|correction| &correction.says);
        let texts = [&persona.opening, &persona.goal, &persona.consent].into_iter().chain(facts).chain(corrections);
        Self::of_texts(texts.map(String::as_str), known)
    }

    pub(super) fn of_texts<'t>(texts: impl Iterator<Item = &'t str>, known: &BTreeSet<String>) -> Self {
        Self { known: known.clone(), values: texts.flat_map(|text| named_values(text, known)).collect() }
    }

    /// Fails if the reply names a value that the persona does not have; the trial would measure a simulator error.
    pub(super) fn check(&self, reply: UserReply) -> Result<UserReply, UserFault> {
        let UserReply::Says(spoken) = &reply else { return Ok(reply) };
        match named_values(&spoken.text, &self.known).into_iter().find(|value| !self.values.contains(value)) {
            Some(value) => Err(UserFault::Simulator(format!("the persona named {value}, which is not one of its values"))),
            None => Ok(reply),
        }
    }
}
