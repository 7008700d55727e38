//! The delegations of a transcript, each with what happened while the other agent had the turn.

use crate::evidence::Evidence;
use model::{Event, Happened};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Delegation<'a> {
    pub event: u32,
    /// Hops from the root to whoever was delegated to.
    pub depth: u32,
    pub to: &'a str,
    pub params: &'a Map<String, Value>,
    /// Everything until the turn came back, what it delegated further included.
    pub during: &'a [Event],
}

impl Delegation<'_> {
    pub(crate) fn covers(&self, event: u32) -> bool {
        self.during.first().zip(self.during.last()).is_some_and(|(first, last)| (first.n..=last.n).contains(&event))
    }
}

pub(crate) fn delegations<'a>(evidence: &Evidence<'a>) -> Vec<Delegation<'a>> {
    let events: &'a [Event] = &evidence.transcript.events;
    let found = events.iter().enumerate().filter_map(|(at, event)| {
        let Happened::Delegated { to, params } = &event.happened else { return None };
        let rest = &events[at + 1..];
        let back = rest.iter().position(|later| later.depth <= event.depth && is_move(later)).unwrap_or(rest.len());
        Some(Delegation { event: event.n, depth: event.depth.saturating_add(1), to, params, during: &rest[..back] })
    });
    found.collect()
}

/// Whether somebody took the turn. What the world notes beside it, and what the user says from outside, does not end a delegation.
fn is_move(event: &Event) -> bool {
    match event.happened {
        Happened::Said { .. }
        | Happened::Asked { .. }
        | Happened::Refused { .. }
        | Happened::Activated { .. }
        | Happened::Called { .. }
        | Happened::Delegated { .. }
        | Happened::Returned { .. } => true,
        Happened::UserSaid { .. }
        | Happened::Resolved { .. }
        | Happened::Prepared { .. }
        | Happened::Simulated { .. }
        | Happened::WouldBlock { .. }
        | Happened::Blocked { .. }
        | Happened::Confirmed { .. }
        | Happened::Answered { .. }
        | Happened::Decided { .. }
        | Happened::Reported { .. }
        | Happened::Messaged { .. }
        | Happened::Remembered { .. }
        | Happened::Recalled { .. }
        | Happened::HoleRead { .. }
        | Happened::Judged { .. }
        | Happened::Misjudged { .. }
        | Happened::Claimed { .. }
        | Happened::Revealed { .. }
        | Happened::Unmatched { .. }
        | Happened::Signed { .. }
        | Happened::Mined { .. } => false,
    }
}
