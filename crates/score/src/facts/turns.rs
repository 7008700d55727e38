//! When the user said something: in a turn by number, or when a persona told or corrected a fact.

use crate::evidence::Evidence;
use model::EventKind;
use model::suite::{CarriedValue, ValueOrigin};

/// The event in which a carried value was said; `None` where it never was.
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

/// The event in which a persona told a fact, or corrected it.
pub(crate) fn fact_revealed_at(evidence: &Evidence<'_>, name: &str, correction: bool) -> Option<u32> {
    let tells =
        |happened: &EventKind| matches!(happened, EventKind::Revealed { fact, corrected } if fact == name && *corrected == correction);
    evidence.transcript.events.iter().find(|event| tells(&event.happened)).map(|event| event.n)
}
