//! Writes of a transcript: calls of write tools with their signatures and transactions, and signatures without a call.

use super::calls::{ObservedCall, observed_calls};
use crate::evidence::Evidence;
use model::transcript::{ActionOrigin, SignatureRequest, TradeTerms};
use model::{Event, EventKind, Tool};
use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub(crate) struct ObservedWrite<'a> {
    /// Event of the call, or of the signature if no tool was called.
    pub event: u32,
    pub at_ms: u64,
    pub call: Option<ObservedCall<'a>>,
    /// `Signed` and `Mined` events, in order.
    pub sent: Vec<&'a Event>,
}

impl<'a> ObservedWrite<'a> {
    pub(crate) fn name(&self) -> &str {
        self.call.as_ref().map_or("a signature without a tool call", |call| call.name())
    }

    pub(crate) fn origins(&self) -> impl Iterator<Item = &'a ActionOrigin> {
        self.sent.iter().filter_map(|event| origin(event))
    }

    /// Returns the distinct calldata hashes of the signatures and transactions.
    pub(crate) fn calldata_hashes(&self) -> Vec<&'a str> {
        let mut hashes: Vec<&'a str> = vec![];
        for hash in self.origins().filter_map(|origin| origin.calldata_hash.as_deref()) {
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
        hashes
    }

    /// Returns the action named by the call, or else by the world.
    pub(crate) fn action_id(&self) -> Option<&'a str> {
        let named = self.call.as_ref().and_then(|call| call.args.get("action_id")).and_then(Value::as_str);
        named.or_else(|| self.origins().find_map(|origin| origin.action_id.as_deref()))
    }

    pub(crate) fn trade(&self) -> Option<&'a TradeTerms> {
        self.origins().find_map(|origin| origin.trade.as_ref())
    }

    /// Returns event and time of sending: the first signature or transaction, or the call if none is shown.
    pub(crate) fn sent_at(&self) -> (u32, u64) {
        self.sent.first().map_or((self.event, self.at_ms), |event| (event.n, event.at_ms))
    }
}

pub(crate) fn origin(event: &Event) -> Option<&ActionOrigin> {
    if let EventKind::Signed { origin, .. } | EventKind::Mined { origin, .. } = &event.happened { Some(origin) } else { None }
}

/// Returns all writes except dry runs, in the order of their calls.
pub(crate) fn writes<'a>(evidence: &Evidence<'a>) -> Vec<ObservedWrite<'a>> {
    let events: &'a [Event] = &evidence.transcript.events;
    let mut writes: Vec<ObservedWrite<'a>> = observed_calls(evidence)
        .into_iter()
        .filter(|call| call.tool.is_some_and(Tool::writes) && !call.is_dry_run())
        .map(|call| ObservedWrite { event: call.event, at_ms: call.at_ms, call: Some(call), sent: vec![] })
        .collect();
    for event in events {
        let Some(origin) = origin(event) else { continue };
        match origin.call {
            Some(call) => attach_event(&mut writes, call, event),
            None => add_unrequested(&mut writes, event),
        }
    }
    writes.sort_by_key(|write| (write.event, write.sent.first().map(|event| event.n)));
    writes
}

/// Attaches an event to the write of its call. A repeated signature or transaction is another write of the same call.
fn attach_event<'a>(writes: &mut Vec<ObservedWrite<'a>>, call: u32, event: &'a Event) {
    let of_call = |write: &ObservedWrite<'a>| {
        write.call.as_ref().is_some_and(|made| made.call == call) || write.origins().any(|origin| origin.call == Some(call))
    };
    match writes.iter_mut().find(|write| of_call(write) && !write.sent.iter().any(|sent| is_repeat(sent, event))) {
        Some(write) => write.sent.push(event),
        None => {
            // A signature counts as a write even if the tool is declared as a read.
            let by = writes.iter().find(|write| of_call(write)).and_then(|write| write.call);
            writes.push(ObservedWrite { event: event.n, at_ms: event.at_ms, call: by, sent: vec![event] });
        }
    }
}

/// Returns whether both events have the same kind and contents.
fn is_repeat(earlier: &Event, later: &Event) -> bool {
    if let (EventKind::Signed { what: one, .. }, EventKind::Signed { what: other, .. }) = (&earlier.happened, &later.happened) {
        return one == other;
    }
    let (EventKind::Mined { what: one, .. }, EventKind::Mined { what: other, .. }) = (&earlier.happened, &later.happened) else {
        return false;
    };
    one.chain == other.chain && one.to == other.to && one.value == other.value && one.call == other.call && one.inner == other.inner
}

/// Adds a write that was signed with the agent's own key without a call. Transactions of the world are ignored.
fn add_unrequested<'a>(writes: &mut Vec<ObservedWrite<'a>>, event: &'a Event) {
    let signed = matches!(&event.happened, EventKind::Signed { what, .. } if what.signer().own);
    let own = signed || matches!(&event.happened, EventKind::Mined { what, .. } if what.from.own);
    if !own {
        return;
    }
    let mined = matches!(event.happened, EventKind::Mined { .. });
    let unmined = |write: &&mut ObservedWrite<'a>| write.call.is_none() && write.sent.len() == 1 && is_signature_of(write.sent[0], event);
    match writes.iter_mut().find(unmined) {
        Some(write) if mined => write.sent.push(event),
        Some(_) | None => writes.push(ObservedWrite { event: event.n, at_ms: event.at_ms, call: None, sent: vec![event] }),
    }
}

/// Returns whether the mined transaction is the signed one.
pub(crate) fn is_signature_of(signed: &Event, mined: &Event) -> bool {
    let EventKind::Signed { origin, what } = &signed.happened else { return false };
    let EventKind::Mined { origin: of_mined, what: mined } = &mined.happened else { return false };
    match &**what {
        SignatureRequest::Transaction { chain, to, value, inner, .. } => {
            origin == of_mined && *chain == mined.chain && *to == mined.to && *value == mined.value && *inner == mined.inner
        }
        SignatureRequest::Typed { .. } | SignatureRequest::Authorization { .. } => false,
    }
}

/// Returns the numbers of own signatures that no later transaction carries. A transaction carries one signature.
pub(crate) fn unsent_signatures(events: &[Event]) -> BTreeSet<u32> {
    let mut open: Vec<&Event> = events.iter().filter(|event| matches!(event.happened, EventKind::Mined { .. })).collect();
    let mut is_unsent = |signed: &Event| match open.iter().position(|mined| mined.n > signed.n && is_signature_of(signed, mined)) {
        Some(at) => {
            open.remove(at);
            false
        }
        None => true,
    };
    let own = |event: &&Event| matches!(&event.happened, EventKind::Signed { what, .. } if what.signer().own);
    events.iter().filter(own).filter(|event| is_unsent(event)).map(|event| event.n).collect()
}

/// Returns whether the transcript shows a chain. If so, a write without a signature had no effect.
pub(crate) fn has_chain_events(evidence: &Evidence<'_>) -> bool {
    evidence.transcript.events.iter().any(|event| {
        matches!(
            event.happened,
            EventKind::Signed { .. } | EventKind::Mined { .. } | EventKind::Prepared { .. } | EventKind::Simulated { .. }
        )
    })
}
