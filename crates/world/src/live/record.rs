//! Records events with the trial's virtual time.

use super::fixtures::HoleRead;
use super::operator::WorldOperator;
use crate::{ActingAgent, EventLog};
use model::transcript::{Effect, MinedTransaction};
use model::{Event, EventKind};
use serde_json::Value;
use std::sync::Arc;

/// Event log and virtual clock of a trial. Time advances only through `advance`.
#[derive(Debug)]
pub(super) struct TrialRecord {
    log: EventLog,
    now_ms: u64,
    operator: Arc<WorldOperator>,
}

impl TrialRecord {
    pub(super) fn new(operator: Arc<WorldOperator>) -> Self {
        Self { log: EventLog::default(), now_ms: 0, operator }
    }

    /// Returns the virtual milliseconds since the trial began.
    pub(super) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    pub(super) fn advance(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    /// Records an event with the addresses of the chain.
    pub(super) fn note(&mut self, who: &ActingAgent, happened: EventKind) {
        self.log.note(self.now_ms, who, self.operator.swap_event(happened));
    }

    /// Records an event that names the operator as records do.
    pub(super) fn note_named(&mut self, who: &ActingAgent, happened: EventKind) {
        self.log.note(self.now_ms, who, happened);
    }

    /// Records a call and returns the number that its answer and effects refer to.
    pub(super) fn note_call(&mut self, who: &ActingAgent, tool: &str, args: &Value) -> u32 {
        self.log.note_call(self.now_ms, who, tool, args)
    }

    pub(super) fn note_holes(&mut self, who: &ActingAgent, reads: Vec<HoleRead>) {
        for HoleRead { hole, filled } in reads {
            self.note(who, EventKind::HoleRead { hole, filled });
        }
    }

    /// Returns the effects of a transaction that was recorded since the events were last taken.
    pub(super) fn effects_of(&self, chain: u64, nonce: u64) -> &[Effect] {
        self.mined(chain, nonce).map_or(&[], |what| what.effects.as_slice())
    }

    /// Returns a transaction that was recorded since the events were last taken.
    pub(super) fn mined(&self, chain: u64, nonce: u64) -> Option<&MinedTransaction> {
        self.log.newest_first().find_map(|happened| {
            let EventKind::Mined { what, .. } = happened else { return None };
            (what.chain == chain && what.nonce == nonce).then_some(&**what)
        })
    }

    pub(super) fn calls(&self) -> u64 {
        self.log.calls()
    }

    pub(super) fn take(&mut self) -> Vec<Event> {
        self.log.take()
    }

    pub(super) fn set_listener(&mut self, listener: Box<dyn FnMut(&Event) + Send>) {
        self.log.set_listener(listener);
    }
}
