//! Where the result goes and where talk goes. Standard output is the result and nothing else.

use crate::args::{GlobalArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::paint::TextPainter;
use crate::workspace_source::WorkspaceSource;
use crate::{env, files};
use model::Location;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) struct CliOutput {
    pub format: ReportFormat,
    pub paint: TextPainter,
    pub verbose: bool,
    output: Option<PathBuf>,
    /// The result is only a step on the way of another command.
    silent: bool,
    /// Stands before the places in reports, so that they can be opened from where the person is.
    root: Option<PathBuf>,
}

impl CliOutput {
    pub(crate) fn new(global: &GlobalArgs, source: &WorkspaceSource) -> Self {
        let terminal = global.output.is_none() && std::io::stdout().is_terminal();
        Self {
            format: global.format,
            paint: TextPainter::new(global.color, terminal, env::is_set("NO_COLOR")),
            verbose: global.verbose,
            output: global.output.clone(),
            silent: false,
            root: match source {
                WorkspaceSource::Embedded => None,
                WorkspaceSource::Folder(folder) => Some(folder.clone()),
            },
        }
    }

    /// For a command that another command uses: it talks, but its result goes nowhere.
    pub(crate) fn silent(&self) -> Self {
        Self { format: ReportFormat::Text, paint: self.paint, verbose: false, output: None, silent: true, root: self.root.clone() }
    }

    /// What to type so that a command is about the same workspace again.
    pub(crate) fn workspace_flag(&self) -> String {
        match &self.root {
            None => " --embedded".into(),
            Some(root) if root.as_os_str() == "evals" => String::new(),
            Some(root) => format!(" --workspace {}", root.display()),
        }
    }

    /// The file of a place as a path from here.
    pub(crate) fn file_path(&self, place: &Location) -> String {
        match &self.root {
            None => place.file.to_string(),
            Some(root) if &*place.file == "." => root.display().to_string(),
            Some(root) => root.join(&*place.file).display().to_string(),
        }
    }

    /// File and line; a whole file has no line.
    pub(crate) fn location(&self, place: &Location) -> String {
        if place.line == 0 { self.file_path(place) } else { format!("{}:{}", self.file_path(place), place.line) }
    }

    /// Delivers the result. A reader that went away is not our failure; a full disk is.
    pub(crate) fn print_result(&self, text: &str, exit: ExitKind) -> ExitKind {
        if self.silent {
            return exit;
        }
        let delivered = match &self.output {
            Some(path) => files::write(path, text),
            None => {
                let mut out = std::io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
        };
        match delivered {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                self.print_message(&format!("the result could not be written: {error}"));
                if exit == ExitKind::Clean { ExitKind::Incomplete } else { exit }
            }
            Ok(()) | Err(_) => exit,
        }
    }

    /// Talk: progress, hints, complaints.
    pub(crate) fn print_message(&self, text: &str) {
        // Nobody to talk to is no reason to fail.
        drop(writeln!(std::io::stderr().lock(), "{text}"));
    }
}
