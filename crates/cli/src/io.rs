//! Output of the program: results to standard output or a file, messages to standard error.

use crate::args::{GlobalArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::paint::TextPainter;
use crate::shell::shell_quoted;
use crate::workspace_source::{DEFAULTS_FILE, WorkspaceSource};
use crate::{env, files};
use model::Location;
use present::escape::{escape_commands, escape_json};
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct CliOutput {
    pub format: ReportFormat,
    pub paint: TextPainter,
    pub verbose: bool,
    /// Characters per line of text output.
    pub width: usize,
    output: Option<PathBuf>,
    /// Discards results, for a command that runs inside another.
    silent: bool,
    /// Prefix of locations in reports, so that they are paths from the working directory.
    root: Option<PathBuf>,
    /// The embedded workspace is used because there is no other, not because the user asked for it.
    embedded_by_default: bool,
}

impl CliOutput {
    pub(crate) fn new(global: &GlobalArgs, source: &WorkspaceSource) -> Self {
        let terminal = global.output.is_none() && std::io::stdout().is_terminal();
        Self {
            format: global.format,
            paint: TextPainter::new(global.color, terminal, env::is_set("NO_COLOR")),
            verbose: global.verbose,
            width: text_width(terminal),
            output: global.output.clone(),
            silent: false,
            root: match source {
                WorkspaceSource::Embedded => None,
                WorkspaceSource::Folder(folder) => Some(folder.clone()),
            },
            embedded_by_default: *source == WorkspaceSource::Embedded && !global.embedded,
        }
    }

    /// Tells the user if a command uses the embedded workspace because there is no other.
    pub(crate) fn note_default_workspace(&self) {
        if self.embedded_by_default {
            self.print_message(
                "note: there is no workspace here, so the embedded one is used; --workspace names another, --embedded hides this note",
            );
        }
    }

    /// Returns whether the user named a workspace, or works in one.
    pub(crate) fn has_chosen_workspace(&self) -> bool {
        !self.embedded_by_default
    }

    /// Returns whether messages go to a terminal, on which a line can be redrawn.
    pub(crate) fn has_message_terminal(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// Returns whether results go to a terminal, which can be cleared.
    pub(crate) fn has_result_terminal(&self) -> bool {
        self.output.is_none() && std::io::stdout().is_terminal()
    }

    /// Lets `write` write the result piece by piece, and returns the exit. Errors count as in [`CliOutput::print_result`].
    pub(crate) fn stream_result(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> ExitKind {
        let delivered = match &self.output {
            Some(path) => files::write_streamed(path, write),
            None => {
                let mut out = std::io::BufWriter::new(std::io::stdout().lock());
                write(&mut out).and_then(|()| out.flush())
            }
        };
        exit_after(self.check_delivery(delivered), ExitKind::Clean)
    }

    /// Returns an output for a nested command: prints messages, discards results.
    pub(crate) fn silent(&self) -> Self {
        Self {
            format: ReportFormat::Text,
            verbose: false,
            output: None,
            silent: true,
            root: self.root.clone(),
            embedded_by_default: false,
            ..*self
        }
    }

    /// Returns an output that writes one result to a file in this format.
    pub(crate) fn to_file(&self, format: ReportFormat, path: &Path) -> Self {
        let output = Some(path.to_owned());
        Self { format, paint: TextPainter::off(), output, root: self.root.clone(), embedded_by_default: false, ..*self }
    }

    /// Returns the file that takes the result instead of standard output.
    pub(crate) fn output_file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Returns the flag that makes a command use the same workspace, or nothing for the default one.
    pub(crate) fn workspace_flag(&self) -> String {
        match &self.root {
            None => " --embedded".into(),
            Some(root) if root.as_os_str() == "evals" => String::new(),
            Some(root) => format!(" --workspace {}", shell_quoted(&root.display().to_string())),
        }
    }

    /// Returns the file of a location as a path from the working directory.
    pub(crate) fn file_path(&self, place: &Location) -> String {
        match &self.root {
            None => place.file.to_string(),
            Some(root) if &*place.file == "." => root.display().to_string(),
            Some(root) if root.as_os_str() == "." => place.file.to_string(),
            // The defaults may lie in the current folder.
            Some(root) if &*place.file == DEFAULTS_FILE && !files::exists(&root.join(DEFAULTS_FILE)) => DEFAULTS_FILE.to_owned(),
            Some(root) => root.join(&*place.file).display().to_string(),
        }
    }

    /// Returns file and line; only the file if the location has no line.
    pub(crate) fn location(&self, place: &Location) -> String {
        if place.line == 0 { self.file_path(place) } else { format!("{}:{}", self.file_path(place), place.line) }
    }

    /// Writes the result and returns the exit. A closed pipe is ignored; other write errors make a clean exit incomplete.
    pub(crate) fn print_result(&self, text: &str, exit: ExitKind) -> ExitKind {
        exit_after(self.deliver_result(text), exit)
    }

    /// Writes the result. A closed pipe is ignored; other write errors are reported and returned as `false`.
    pub(crate) fn deliver_result(&self, text: &str) -> bool {
        if self.silent {
            return true;
        }
        let text: &str = &match self.format {
            ReportFormat::Json | ReportFormat::Sarif => escape_json(text),
            ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github => Cow::Borrowed(text),
        };
        let delivered = match &self.output {
            Some(path) => files::write(path, text),
            None => {
                let mut out = std::io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
        };
        self.check_delivery(delivered)
    }

    fn check_delivery(&self, delivered: std::io::Result<()>) -> bool {
        match delivered {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                let to = self.output.as_ref().map_or_else(String::new, |path| format!(" to {}", path.display()));
                self.print_message(&format!("the result could not be written{to}: {error}"));
                false
            }
            Ok(()) | Err(_) => true,
        }
    }

    /// Prints progress, hints and errors to standard error. No line of them is a workflow command, also if it quotes others.
    pub(crate) fn print_message(&self, text: &str) {
        // A closed standard error is not a failure.
        drop(writeln!(std::io::stderr().lock(), "{}", escape_commands(text)));
    }

    /// Replaces the last line of a terminal on standard error, cut to its width. An empty text removes it.
    pub(crate) fn redraw_message(&self, text: &str) {
        let width = terminal_size::terminal_size_of(std::io::stderr()).map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        let shown: String = text.chars().take(width.saturating_sub(1)).collect();
        let mut err = std::io::stderr().lock();
        drop(write!(err, "\r\x1b[2K{shown}").and_then(|()| err.flush()));
    }
}

/// Returns the exit of a command whose result was delivered or not.
pub(crate) fn exit_after(is_delivered: bool, exit: ExitKind) -> ExitKind {
    if !is_delivered && exit == ExitKind::Clean { ExitKind::Incomplete } else { exit }
}

/// Width of text that does not go to a terminal, unless COLUMNS says another.
const DEFAULT_WIDTH: usize = 120;
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=400;

fn text_width(terminal: bool) -> usize {
    let measured = if terminal { terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)) } else { None };
    let columns = || env::var("COLUMNS").and_then(|text| text.parse().ok());
    measured.or_else(columns).filter(|width| WIDTHS.contains(width)).unwrap_or(DEFAULT_WIDTH)
}

/// Tells the user why nothing happens: SQLite lets one process write at a time.
pub(crate) fn print_store_wait() {
    drop(writeln!(std::io::stderr().lock(), "another process writes to the store; waiting for it"));
}

/// Prints a line after the message of the argument parser.
pub(crate) fn print_hint(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}
