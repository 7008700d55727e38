//! Corrections of a persona: finds the ones that are due and tracks the ones already made.

use model::suite::{Persona, PersonaCorrection};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default)]
pub(super) struct PersonaCorrections(BTreeSet<usize>);

impl PersonaCorrections {
    /// Returns the correction that is due, if any, and updates the corrected fact. `revealed_at` has the message count at which each
    /// fact was revealed.
    pub(super) fn take_due(
        &mut self,
        persona: &mut Persona,
        received: u64,
        revealed_at: &BTreeMap<String, u64>,
    ) -> Option<PersonaCorrection> {
        let is_due = |at: usize, correction: &PersonaCorrection| {
            let since = match &correction.fact {
                Some(fact) => revealed_at.get(fact.as_str()).copied(),
                None => Some(0),
            };
            !self.0.contains(&at) && since.is_some_and(|since| received >= since + correction.after)
        };
        let at = (0..).zip(&persona.corrections).find(|(at, correction)| is_due(*at, correction)).map(|(at, _)| at)?;
        self.0.insert(at);
        let correction = persona.corrections[at].clone();
        if let Some(fact) = correction.fact.as_ref().and_then(|fact| persona.facts.get_mut(fact.as_str())) {
            fact.says.clone_from(&correction.says);
        }
        Some(correction)
    }

    pub(super) fn applied<'p>(&self, persona: &'p Persona) -> impl Iterator<Item = &'p PersonaCorrection> {
        self.0.clone().into_iter().filter_map(|at| persona.corrections.get(at))
    }
}
