//! When the user said something: in a turn by number, or when a persona told or corrected a fact.

use crate::evidence::Evidence;
use model::Happened;
use model::suite::{Carry, Since};

/// The event in which a carried value was said; `None` where it never was.
pub(crate) fn said_at(evidence: &Evidence<'_>, carry: &Carry) -> Option<u32> {
    match &carry.from {
        Since::Turn(n) => {
            let events = evidence.transcript.events.iter();
            let mut turns = events.filter(|event| matches!(event.happened, Happened::UserSaid { .. })).map(|event| event.n);
            usize::try_from(n.checked_sub(1)?).ok().and_then(|n| turns.nth(n))
        }
        Since::Fact(name) => told_at(evidence, name, false),
        Since::Correction(name) => told_at(evidence, name, true),
    }
}

/// The event in which a persona told a fact, or corrected it.
pub(crate) fn told_at(evidence: &Evidence<'_>, name: &str, correction: bool) -> Option<u32> {
    let tells =
        |happened: &Happened| matches!(happened, Happened::Revealed { fact, corrected } if fact == name && *corrected == correction);
    evidence.transcript.events.iter().find(|event| tells(&event.happened)).map(|event| event.n)
}
