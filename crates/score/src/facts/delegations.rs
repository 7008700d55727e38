//! The delegations of a transcript, each with what happened while the other agent had the turn.

use crate::evidence::Evidence;
use model::{Event, EventKind};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ObservedDelegation<'a> {
    pub event: u32,
    /// Hops from the root to whoever was delegated to.
    pub depth: u32,
    pub to: &'a str,
    pub params: &'a Map<String, Value>,
    /// Everything until the turn came back, what it delegated further included.
    pub during: &'a [Event],
}

impl ObservedDelegation<'_> {
    pub(crate) fn covers(&self, event: u32) -> bool {
        self.during.first().zip(self.during.last()).is_some_and(|(first, last)| (first.n..=last.n).contains(&event))
    }
}

pub(crate) fn delegations<'a>(evidence: &Evidence<'a>) -> Vec<ObservedDelegation<'a>> {
    let events: &'a [Event] = &evidence.transcript.events;
    let found = events.iter().enumerate().filter_map(|(at, event)| {
        let EventKind::Delegated { to, params } = &event.happened else { return None };
        let rest = &events[at + 1..];
        let back = rest.iter().position(|later| later.depth <= event.depth && takes_turn(later)).unwrap_or(rest.len());
        Some(ObservedDelegation { event: event.n, depth: event.depth.saturating_add(1), to, params, during: &rest[..back] })
    });
    found.collect()
}

/// Whether somebody took the turn. What the world notes beside it, and what the user says from outside, does not end a delegation.
fn takes_turn(event: &Event) -> bool {
    match event.happened {
        EventKind::Said { .. }
        | EventKind::Asked { .. }
        | EventKind::Refused { .. }
        | EventKind::Activated { .. }
        | EventKind::Called { .. }
        | EventKind::Delegated { .. }
        | EventKind::Returned { .. } => true,
        EventKind::UserSaid { .. }
        | EventKind::Resolved { .. }
        | EventKind::Prepared { .. }
        | EventKind::Simulated { .. }
        | EventKind::WouldBlock { .. }
        | EventKind::Blocked { .. }
        | EventKind::Confirmed { .. }
        | EventKind::Answered { .. }
        | EventKind::Decided { .. }
        | EventKind::Reported { .. }
        | EventKind::Messaged { .. }
        | EventKind::Remembered { .. }
        | EventKind::Recalled { .. }
        | EventKind::HoleRead { .. }
        | EventKind::Judged { .. }
        | EventKind::Misjudged { .. }
        | EventKind::Claimed { .. }
        | EventKind::Revealed { .. }
        | EventKind::Unmatched { .. }
        | EventKind::Signed { .. }
        | EventKind::Mined { .. } => false,
    }
}
