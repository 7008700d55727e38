//! Numbers events as they happen.

use crate::Who;
use model::{Event, Happened};
use serde_json::Value;
use std::fmt;

#[derive(Debug, Default)]
pub struct Log {
    events: Vec<Event>,
    calls: u32,
    tap: Option<Tap>,
}

/// Somebody who is told of every event as it is recorded.
struct Tap(Box<dyn FnMut(&Event) + Send>);

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tap")
    }
}

impl Log {
    pub fn note(&mut self, at_ms: u64, who: &Who, happened: Happened) {
        let n = u32::try_from(self.events.len() + 1).unwrap_or(u32::MAX);
        let event = Event { n, at_ms, by: who.agent.clone(), depth: who.depth, happened };
        if let Some(tap) = &mut self.tap {
            (tap.0)(&event);
        }
        self.events.push(event);
    }

    pub fn tap(&mut self, tell: Box<dyn FnMut(&Event) + Send>) {
        self.tap = Some(Tap(tell));
    }

    /// A call with the number by which its answer and its effects refer to it.
    pub fn called(&mut self, at_ms: u64, who: &Who, tool: &str, args: &Value) -> u32 {
        self.calls += 1;
        let call = self.calls;
        self.note(at_ms, who, Happened::Called { call, tool: tool.to_owned(), args: args.clone() });
        call
    }

    /// What has happened and was not handed over yet, the newest first.
    pub(crate) fn back(&self) -> impl Iterator<Item = &Happened> {
        self.events.iter().rev().map(|event| &event.happened)
    }

    pub fn calls(&self) -> u64 {
        u64::from(self.calls)
    }

    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
