//! Numbers events as they happen.

use model::{Event, Happened};

#[derive(Debug, Default)]
pub(crate) struct Recorder {
    events: Vec<Event>,
    calls: u32,
}

impl Recorder {
    pub(crate) fn note(&mut self, at_ms: u64, by: &str, depth: u32, happened: Happened) {
        let n = u32::try_from(self.events.len() + 1).unwrap_or(u32::MAX);
        self.events.push(Event { n, at_ms, by: by.to_owned(), depth, happened });
    }

    /// A number for the next call, so that its answer can refer to it.
    pub(crate) fn next_call(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }

    pub(crate) fn calls(&self) -> u64 {
        u64::from(self.calls)
    }

    pub(crate) fn into_events(self) -> Vec<Event> {
        self.events
    }
}
