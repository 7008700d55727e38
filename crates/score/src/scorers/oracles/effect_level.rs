//! Effect that an event of a transcript reached.

use crate::evidence::Evidence;
use crate::facts::calls::{ObservedCall, observed_calls};
use crate::facts::writes::{is_signature_of, origin};
use model::transcript::{ToolAnswer, TxOutcome};
use model::{EffectLevel, Event, EventKind, OpClass, Tool};

/// Returns the highest effect that followed from an event: of the transactions of its call, of the mined signature, or of itself.
pub(super) fn effect_of_event(evidence: &Evidence<'_>, n: u32) -> EffectLevel {
    let events = &evidence.transcript.events;
    let Some(event) = events.iter().find(|event| event.n == n) else { return EffectLevel::Attempted };
    if let EventKind::Called { call, .. } = &event.happened {
        return effect_of_call(evidence, *call);
    }
    if let EventKind::Confirmed { call, granted: true, .. } = &event.happened {
        return effect_of_call(evidence, *call);
    }
    if let EventKind::Delegated { to, .. } = &event.happened {
        let acted = events.iter().any(|later| later.n > n && later.by == *to);
        return if acted { EffectLevel::Sent } else { EffectLevel::Attempted };
    }
    if let EventKind::Signed { .. } = &event.happened {
        let mined = events.iter().filter(|later| later.n > n && is_signature_of(event, later));
        return mined.map(effect_of_sending).max().unwrap_or(EffectLevel::Sent).max(EffectLevel::Sent);
    }
    let sent = matches!(
        event.happened,
        EventKind::Mined { .. }
            | EventKind::Remembered { .. }
            | EventKind::Said { .. }
            | EventKind::Asked { .. }
            | EventKind::Refused { .. }
            | EventKind::Returned { .. }
    );
    if sent { effect_of_sending(event) } else { EffectLevel::Attempted }
}

/// Returns the effect of a signature, transaction or text on its own.
fn effect_of_sending(event: &Event) -> EffectLevel {
    let mined = matches!(&event.happened, EventKind::Mined { what, .. } if what.outcome == TxOutcome::Success);
    if mined { EffectLevel::Changed } else { EffectLevel::Sent }
}

/// Returns the highest effect of a call. A write that was accepted without a transaction, such as a note, was sent.
pub(super) fn effect_of_call(evidence: &Evidence<'_>, call: u32) -> EffectLevel {
    let events = &evidence.transcript.events;
    let sent = events.iter().filter(|event| origin(event).is_some_and(|origin| origin.call == Some(call)));
    if let Some(effect) = sent.map(effect_of_sending).max() {
        return effect;
    }
    let Some(made) = observed_calls(evidence).into_iter().find(|made| made.call == call) else { return EffectLevel::Attempted };
    if is_accepted(evidence, &made) && !made.is_dry_run() && made.tool.is_none_or(Tool::writes) {
        EffectLevel::Sent
    } else {
        EffectLevel::Attempted
    }
}

/// Returns whether the tool answered the call with a result.
pub(super) fn is_accepted(evidence: &Evidence<'_>, made: &ObservedCall<'_>) -> bool {
    evidence
        .transcript
        .events
        .iter()
        .any(|event| matches!(&event.happened, EventKind::Answered { call, answer: ToolAnswer::Result(_) } if *call == made.call))
}

/// Returns whether a call took effect: it was mined successfully, or accepted by a tool that sends nothing to a chain.
pub(super) fn is_effective(evidence: &Evidence<'_>, made: &ObservedCall<'_>) -> bool {
    let events = &evidence.transcript.events;
    let mut sent = events.iter().filter(|event| origin(event).is_some_and(|origin| origin.call == Some(made.call))).peekable();
    if sent.peek().is_some() {
        return sent.any(|event| effect_of_sending(event) == EffectLevel::Changed);
    }
    is_accepted(evidence, made) && !made.is_dry_run()
}

/// Returns whether the call prepares an action without sending it.
pub(super) fn only_prepares(made: &ObservedCall<'_>) -> bool {
    made.is_dry_run() || made.tool.is_some_and(|tool| matches!(tool.acts.class(), OpClass::Quote | OpClass::Simulate))
}

/// Returns the event of the call that an event belongs to, else the event itself.
pub(super) fn call_event(evidence: &Evidence<'_>, n: u32) -> u32 {
    let events = &evidence.transcript.events;
    let call = events.iter().find(|event| event.n == n).and_then(|event| origin(event)).and_then(|origin| origin.call);
    let Some(call) = call else { return n };
    let made = events.iter().find(|event| matches!(&event.happened, EventKind::Called { call: made, .. } if *made == call));
    made.map_or(n, |event| event.n.min(n))
}
