//! A trial told while it happens, line by line.

use super::super::escape::visible;
use super::amounts::Amounts;
use super::line::Teller;
use crate::args::Format;
use crate::io::Io;
use crate::paint::Paint;
use model::{Event, Happened, Workspace};
use std::io::Write;
use std::sync::Arc;

/// Writes every event to standard output as soon as it is recorded.
#[derive(Debug)]
pub(crate) struct Live {
    workspace: Arc<Workspace>,
    world: String,
    paint: Paint,
    everything: bool,
    json: bool,
}

impl Live {
    pub(crate) fn new(io: &Io, workspace: Arc<Workspace>, world: &str) -> Self {
        Self { workspace, world: world.to_owned(), paint: io.paint, everything: io.verbose, json: io.format == Format::Json }
    }

    pub(crate) fn tell(&self, event: &Event) {
        let mut out = std::io::stdout().lock();
        // A reader that went away must not stop the conversation from being kept.
        drop(out.write_all(self.text(event).as_bytes()).and_then(|()| out.flush()));
    }

    fn text(&self, event: &Event) -> String {
        if self.json {
            return format!("{}\n", serde_json::to_string(event).unwrap_or_default());
        }
        // The person has just typed it.
        if matches!(event.happened, Happened::UserSaid { .. }) {
            return String::new();
        }
        let teller = Teller {
            amounts: Amounts { workspace: &self.workspace, world: self.workspace.world(&self.world) },
            everything: self.everything,
        };
        let margin = "  ".repeat(usize::try_from(event.depth).unwrap_or(0));
        let mut text = format!("{margin}{}  {}\n", self.paint.strong(&visible(&event.by)), teller.line(event));
        for line in teller.below(event) {
            text.push_str(&format!("{margin}    {line}\n"));
        }
        text
    }
}
