//! What was written: calls of write tools with what they signed and sent, and what was signed without any call.

use super::calls::{Made, made};
use crate::evidence::Evidence;
use model::transcript::{Origin, Party, Signed, Trade};
use model::{Event, Happened, Tool};
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Write<'a> {
    /// The call; the signature where an agent signed without calling a tool.
    pub event: u32,
    pub at_ms: u64,
    pub call: Option<Made<'a>>,
    /// Signed and Mined events, in order.
    pub sent: Vec<&'a Event>,
}

impl<'a> Write<'a> {
    pub(crate) fn name(&self) -> &str {
        self.call.as_ref().map_or("a signature without a tool", |call| call.name())
    }

    pub(crate) fn origins(&self) -> impl Iterator<Item = &'a Origin> {
        self.sent.iter().filter_map(|event| origin(event))
    }

    /// Hashes of what was signed, each once.
    pub(crate) fn hashes(&self) -> Vec<&'a str> {
        let mut hashes: Vec<&'a str> = vec![];
        for hash in self.origins().filter_map(|origin| origin.calldata_hash.as_deref()) {
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
        hashes
    }

    /// The action the call names, or the world says it belongs to.
    pub(crate) fn action(&self) -> Option<&'a str> {
        let named = self.call.as_ref().and_then(|call| call.args.get("action_id")).and_then(Value::as_str);
        named.or_else(|| self.origins().find_map(|origin| origin.action_id.as_deref()))
    }

    pub(crate) fn trade(&self) -> Option<&'a Trade> {
        self.origins().find_map(|origin| origin.trade.as_ref())
    }

    /// When it left: the first signature, or the call where none is shown.
    pub(crate) fn left(&self) -> (u32, u64) {
        self.sent.first().map_or((self.event, self.at_ms), |event| (event.n, event.at_ms))
    }
}

pub(crate) fn origin(event: &Event) -> Option<&Origin> {
    if let Happened::Signed { origin, .. } | Happened::Mined { origin, .. } = &event.happened { Some(origin) } else { None }
}

pub(crate) fn signer(what: &Signed) -> &Party {
    match what {
        Signed::Transaction { from, .. } => from,
        Signed::Typed { signer, .. } | Signed::Authorization { signer, .. } => signer,
    }
}

/// Dry runs aside. In the order of their calls.
pub(crate) fn writes<'a>(evidence: &Evidence<'a>) -> Vec<Write<'a>> {
    let events: &'a [Event] = &evidence.transcript.events;
    let mut writes: Vec<Write<'a>> = made(evidence)
        .into_iter()
        .filter(|call| call.tool.is_some_and(Tool::writes) && !call.is_dry_run())
        .map(|call| Write { event: call.event, at_ms: call.at_ms, call: Some(call), sent: vec![] })
        .collect();
    for event in events {
        let Some(origin) = origin(event) else { continue };
        match origin.call {
            Some(call) => place(&mut writes, call, event),
            None => unasked(&mut writes, event),
        }
    }
    writes.sort_by_key(|write| (write.event, write.sent.first().map(|event| event.n)));
    writes
}

/// Puts an event to the write it belongs to. The same thing signed or mined again is another write under the same call.
fn place<'a>(writes: &mut Vec<Write<'a>>, call: u32, event: &'a Event) {
    let of_call = |write: &Write<'a>| {
        write.call.as_ref().is_some_and(|made| made.call == call) || write.origins().any(|origin| origin.call == Some(call))
    };
    match writes.iter_mut().find(|write| of_call(write) && !write.sent.iter().any(|sent| is_again(sent, event))) {
        Some(write) => write.sent.push(event),
        None => {
            // A read tool that signs is a write, whatever it calls itself.
            let by = writes.iter().find(|write| of_call(write)).and_then(|write| write.call);
            writes.push(Write { event: event.n, at_ms: event.at_ms, call: by, sent: vec![event] });
        }
    }
}

/// Whether the later event repeats the earlier one: same kind, same contents.
fn is_again(earlier: &Event, later: &Event) -> bool {
    if let (Happened::Signed { what: one, .. }, Happened::Signed { what: other, .. }) = (&earlier.happened, &later.happened) {
        return one == other;
    }
    let (Happened::Mined { what: one, .. }, Happened::Mined { what: other, .. }) = (&earlier.happened, &later.happened) else {
        return false;
    };
    one.chain == other.chain && one.to == other.to && one.value == other.value && one.call == other.call && one.inner == other.inner
}

/// Signed through the node by the agent's own key. What the world itself sends is nobody's write.
fn unasked<'a>(writes: &mut Vec<Write<'a>>, event: &'a Event) {
    let signed = matches!(&event.happened, Happened::Signed { what, .. } if signer(what).own);
    let own = signed || matches!(&event.happened, Happened::Mined { what, .. } if what.from.own);
    if !own {
        return;
    }
    let mined = matches!(event.happened, Happened::Mined { .. });
    let waiting = |write: &&mut Write<'a>| write.call.is_none() && write.sent.len() == 1 && is_signature_of(write.sent[0], event);
    match writes.iter_mut().find(waiting) {
        Some(write) if mined => write.sent.push(event),
        Some(_) | None => writes.push(Write { event: event.n, at_ms: event.at_ms, call: None, sent: vec![event] }),
    }
}

/// Whether this signature is what stood in the block.
pub(crate) fn is_signature_of(signed: &Event, mined: &Event) -> bool {
    let Happened::Signed { origin, what } = &signed.happened else { return false };
    let Happened::Mined { origin: of_mined, what: mined } = &mined.happened else { return false };
    match &**what {
        Signed::Transaction { chain, to, value, inner, .. } => {
            origin == of_mined && *chain == mined.chain && *to == mined.to && *value == mined.value && *inner == mined.inner
        }
        Signed::Typed { .. } | Signed::Authorization { .. } => false,
    }
}

/// Whether the transcript shows a chain at all: then a write that signed nothing reached nothing.
pub(crate) fn shows_chain(evidence: &Evidence<'_>) -> bool {
    evidence.transcript.events.iter().any(|event| {
        matches!(event.happened, Happened::Signed { .. } | Happened::Mined { .. } | Happened::Prepared { .. } | Happened::Simulated { .. })
    })
}
