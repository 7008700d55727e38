//! Trials in which no agent did or said anything.

use model::EventKind;
use model::transcript::Event;

/// Returns whether no agent acted and nothing was said. An answer without words says nothing.
pub(crate) fn is_idle(events: &[Event]) -> bool {
    !events.iter().any(|event| is_act(&event.happened))
}

fn is_act(happened: &EventKind) -> bool {
    match happened {
        EventKind::Said { text } | EventKind::Asked { text } => !text.trim().is_empty(),
        EventKind::Refused { .. }
        | EventKind::Activated { .. }
        | EventKind::Called { .. }
        | EventKind::Delegated { .. }
        | EventKind::Decided { .. }
        | EventKind::Reported { .. }
        | EventKind::Claimed { .. }
        | EventKind::Signed { .. }
        | EventKind::Mined { .. } => true,
        EventKind::UserSaid { .. }
        | EventKind::Revealed { .. }
        | EventKind::Unmatched { .. }
        | EventKind::Resolved { .. }
        | EventKind::Prepared { .. }
        | EventKind::Simulated { .. }
        | EventKind::WouldBlock { .. }
        | EventKind::Blocked { .. }
        | EventKind::Confirmed { .. }
        | EventKind::Answered { .. }
        | EventKind::Returned { .. }
        | EventKind::Messaged { .. }
        | EventKind::Remembered { .. }
        | EventKind::Recalled { .. }
        | EventKind::HoleRead { .. }
        | EventKind::FixtureUsed { .. }
        | EventKind::Judged { .. }
        | EventKind::Misjudged { .. }
        | EventKind::Scored { .. }
        | EventKind::Used { .. } => false,
    }
}
