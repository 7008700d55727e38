//! Prints the events of a trial while it runs.

use super::super::escape::escape_control;
use super::amounts::AmountFormatter;
use super::event_formatter::EventFormatter;
use crate::args::ReportFormat;
use crate::io::CliOutput;
use crate::paint::TextPainter;
use model::{Event, EventKind, Workspace};
use std::io::Write;
use std::sync::Arc;

/// Prints each event to standard output as soon as it is recorded.
#[derive(Debug)]
pub(crate) struct EventPrinter {
    workspace: Arc<Workspace>,
    world: String,
    paint: TextPainter,
    verbose: bool,
    json: bool,
}

impl EventPrinter {
    pub(crate) fn new(io: &CliOutput, workspace: Arc<Workspace>, world: &str) -> Self {
        Self { workspace, world: world.to_owned(), paint: io.paint, verbose: io.verbose, json: io.format == ReportFormat::Json }
    }

    pub(crate) fn print_event(&self, event: &Event) {
        let mut out = std::io::stdout().lock();
        // A closed pipe must not keep the conversation from being stored.
        drop(out.write_all(self.text(event).as_bytes()).and_then(|()| out.flush()));
    }

    fn text(&self, event: &Event) -> String {
        if self.json {
            return format!("{}\n", serde_json::to_string(event).unwrap_or_default());
        }
        // The user has just typed it.
        if matches!(event.happened, EventKind::UserSaid { .. }) {
            return String::new();
        }
        let formatter = EventFormatter {
            amounts: AmountFormatter { workspace: &self.workspace, world: self.workspace.world(&self.world) },
            verbose: self.verbose,
        };
        let margin = "  ".repeat(usize::try_from(event.depth).unwrap_or(0));
        let mut text = format!("{margin}{}  {}\n", self.paint.strong(&escape_control(&event.by)), formatter.event_line(event));
        for line in formatter.effect_lines(event) {
            text.push_str(&format!("{margin}    {line}\n"));
        }
        text
    }
}
