//! Events in which the user stated a value: a numbered turn, or a fact revealed or corrected by a persona.

use crate::evidence::Evidence;
use model::EventKind;
use model::suite::{CarriedValue, ValueOrigin};

/// Returns the event in which a carried value was stated, if it was.
pub(crate) fn carry_stated_at(evidence: &Evidence<'_>, carry: &CarriedValue) -> Option<u32> {
    match &carry.from {
        ValueOrigin::Turn(n) => {
            let events = evidence.transcript.events.iter();
            let mut turns = events.filter(|event| matches!(event.happened, EventKind::UserSaid { .. })).map(|event| event.n);
            usize::try_from(n.checked_sub(1)?).ok().and_then(|n| turns.nth(n))
        }
        ValueOrigin::Fact(name) => fact_revealed_at(evidence, name, false),
        ValueOrigin::Correction(name) => fact_revealed_at(evidence, name, true),
    }
}

/// Returns the event in which a persona revealed or corrected a fact.
pub(crate) fn fact_revealed_at(evidence: &Evidence<'_>, name: &str, correction: bool) -> Option<u32> {
    let matches_fact =
        |happened: &EventKind| matches!(happened, EventKind::Revealed { fact, corrected } if fact == name && *corrected == correction);
    evidence.transcript.events.iter().find(|event| matches_fact(&event.happened)).map(|event| event.n)
}
