//! Delegations of a transcript, each with the events until control returned.

use crate::evidence::Evidence;
use model::{Event, EventKind};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ObservedDelegation<'a> {
    pub event: u32,
    /// Hops from the root to the receiving agent.
    pub depth: u32,
    pub to: &'a str,
    pub params: &'a Map<String, Value>,
    /// Events until control returned, including nested delegations.
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

/// Returns whether the event is a move of an agent. Events of the world and the user do not end a delegation.
pub(super) fn takes_turn(event: &Event) -> bool {
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
        | EventKind::FixtureUsed { .. }
        | EventKind::Judged { .. }
        | EventKind::Misjudged { .. }
        | EventKind::Scored { .. }
        | EventKind::Used { .. }
        | EventKind::Claimed { .. }
        | EventKind::Revealed { .. }
        | EventKind::Unmatched { .. }
        | EventKind::Signed { .. }
        | EventKind::Mined { .. } => false,
    }
}
