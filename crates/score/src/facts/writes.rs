//! What was written: calls of write tools with what they signed and sent, and what was signed without any call.

use super::calls::{ObservedCall, observed_calls};
use crate::evidence::Evidence;
use model::transcript::{ActionOrigin, AddressInfo, SignatureRequest, TradeTerms};
use model::{Event, EventKind, Tool};
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct ObservedWrite<'a> {
    /// The call; the signature where an agent signed without calling a tool.
    pub event: u32,
    pub at_ms: u64,
    pub call: Option<ObservedCall<'a>>,
    /// Signed and Mined events, in order.
    pub sent: Vec<&'a Event>,
}

impl<'a> ObservedWrite<'a> {
    pub(crate) fn name(&self) -> &str {
        self.call.as_ref().map_or("a signature without a tool", |call| call.name())
    }

    pub(crate) fn origins(&self) -> impl Iterator<Item = &'a ActionOrigin> {
        self.sent.iter().filter_map(|event| origin(event))
    }

    /// Hashes of what was signed, each once.
    pub(crate) fn calldata_hashes(&self) -> Vec<&'a str> {
        let mut hashes: Vec<&'a str> = vec![];
        for hash in self.origins().filter_map(|origin| origin.calldata_hash.as_deref()) {
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
        hashes
    }

    /// The action the call names, or the world says it belongs to.
    pub(crate) fn action_id(&self) -> Option<&'a str> {
        let named = self.call.as_ref().and_then(|call| call.args.get("action_id")).and_then(Value::as_str);
        named.or_else(|| self.origins().find_map(|origin| origin.action_id.as_deref()))
    }

    pub(crate) fn trade(&self) -> Option<&'a TradeTerms> {
        self.origins().find_map(|origin| origin.trade.as_ref())
    }

    /// When it left: the first signature, or the call where none is shown.
    pub(crate) fn sent_at(&self) -> (u32, u64) {
        self.sent.first().map_or((self.event, self.at_ms), |event| (event.n, event.at_ms))
    }
}

pub(crate) fn origin(event: &Event) -> Option<&ActionOrigin> {
    if let EventKind::Signed { origin, .. } | EventKind::Mined { origin, .. } = &event.happened { Some(origin) } else { None }
}

pub(crate) fn signer(what: &SignatureRequest) -> &AddressInfo {
    match what {
        SignatureRequest::Transaction { from, .. } => from,
        SignatureRequest::Typed { signer, .. } | SignatureRequest::Authorization { signer, .. } => signer,
    }
}

/// Dry runs aside. In the order of their calls.
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

/// Puts an event to the write it belongs to. The same thing signed or mined again is another write under the same call.
fn attach_event<'a>(writes: &mut Vec<ObservedWrite<'a>>, call: u32, event: &'a Event) {
    let of_call = |write: &ObservedWrite<'a>| {
        write.call.as_ref().is_some_and(|made| made.call == call) || write.origins().any(|origin| origin.call == Some(call))
    };
    match writes.iter_mut().find(|write| of_call(write) && !write.sent.iter().any(|sent| is_repeat(sent, event))) {
        Some(write) => write.sent.push(event),
        None => {
            // A read tool that signs is a write, whatever it calls itself.
            let by = writes.iter().find(|write| of_call(write)).and_then(|write| write.call);
            writes.push(ObservedWrite { event: event.n, at_ms: event.at_ms, call: by, sent: vec![event] });
        }
    }
}

/// Whether the later event repeats the earlier one: same kind, same contents.
fn is_repeat(earlier: &Event, later: &Event) -> bool {
    if let (EventKind::Signed { what: one, .. }, EventKind::Signed { what: other, .. }) = (&earlier.happened, &later.happened) {
        return one == other;
    }
    let (EventKind::Mined { what: one, .. }, EventKind::Mined { what: other, .. }) = (&earlier.happened, &later.happened) else {
        return false;
    };
    one.chain == other.chain && one.to == other.to && one.value == other.value && one.call == other.call && one.inner == other.inner
}

/// Signed through the node by the agent's own key. What the world itself sends is nobody's write.
fn add_unrequested<'a>(writes: &mut Vec<ObservedWrite<'a>>, event: &'a Event) {
    let signed = matches!(&event.happened, EventKind::Signed { what, .. } if signer(what).own);
    let own = signed || matches!(&event.happened, EventKind::Mined { what, .. } if what.from.own);
    if !own {
        return;
    }
    let mined = matches!(event.happened, EventKind::Mined { .. });
    let waiting = |write: &&mut ObservedWrite<'a>| write.call.is_none() && write.sent.len() == 1 && is_signature_of(write.sent[0], event);
    match writes.iter_mut().find(waiting) {
        Some(write) if mined => write.sent.push(event),
        Some(_) | None => writes.push(ObservedWrite { event: event.n, at_ms: event.at_ms, call: None, sent: vec![event] }),
    }
}

/// Whether this signature is what stood in the block.
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

/// Whether the transcript shows a chain at all: then a write that signed nothing reached nothing.
pub(crate) fn has_chain_events(evidence: &Evidence<'_>) -> bool {
    evidence.transcript.events.iter().any(|event| {
        matches!(
            event.happened,
            EventKind::Signed { .. } | EventKind::Mined { .. } | EventKind::Prepared { .. } | EventKind::Simulated { .. }
        )
    })
}
