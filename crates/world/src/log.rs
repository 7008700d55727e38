//! Event log of a trial: numbers events and calls.

use crate::ActingAgent;
use model::{Event, EventKind};
use serde_json::Value;
use std::fmt;

#[derive(Debug, Default)]
pub struct EventLog {
    events: Vec<Event>,
    calls: u32,
    listener: Option<EventListener>,
}

struct EventListener(Box<dyn FnMut(&Event) + Send>);

impl fmt::Debug for EventListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventListener").finish_non_exhaustive()
    }
}

impl EventLog {
    pub fn note(&mut self, at_ms: u64, who: &ActingAgent, happened: EventKind) {
        let n = u32::try_from(self.events.len() + 1).unwrap_or(u32::MAX);
        let event = Event { n, at_ms, by: who.agent.clone(), depth: who.depth, happened };
        if let Some(listener) = &mut self.listener {
            (listener.0)(&event);
        }
        self.events.push(event);
    }

    /// Sets a listener that is called with every event as it is recorded.
    pub fn set_listener(&mut self, listener: Box<dyn FnMut(&Event) + Send>) {
        self.listener = Some(EventListener(listener));
    }

    /// Records a call and returns the number that its answer and effects refer to.
    pub fn note_call(&mut self, at_ms: u64, who: &ActingAgent, tool: &str, args: &Value) -> u32 {
        self.calls += 1;
        let call = self.calls;
        self.note(at_ms, who, EventKind::Called { call, tool: tool.to_owned(), args: args.clone() });
        call
    }

    /// Returns the events that were not taken yet, newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &EventKind> {
        self.events.iter().rev().map(|event| &event.happened)
    }

    pub fn calls(&self) -> u64 {
        u64::from(self.calls)
    }

    /// Removes and returns the events.
    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
