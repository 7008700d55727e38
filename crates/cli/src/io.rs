//! Where the result goes and where talk goes. Standard output is the result and nothing else.

use crate::args::{Format, Global};
use crate::exit::Exit;
use crate::open::Source;
use crate::paint::Paint;
use crate::{env, files};
use model::Place;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) struct Io {
    pub format: Format,
    pub paint: Paint,
    pub verbose: bool,
    output: Option<PathBuf>,
    /// The result is only a step on the way of another command.
    silent: bool,
    /// Stands before the places in reports, so that they can be opened from where the person is.
    root: Option<PathBuf>,
}

impl Io {
    pub(crate) fn new(global: &Global, source: &Source) -> Self {
        let terminal = global.output.is_none() && std::io::stdout().is_terminal();
        Self {
            format: global.format,
            paint: Paint::new(global.color, terminal, env::is_set("NO_COLOR")),
            verbose: global.verbose,
            output: global.output.clone(),
            silent: false,
            root: match source {
                Source::Embedded => None,
                Source::Folder(folder) => Some(folder.clone()),
            },
        }
    }

    /// For a command that another command uses: it talks, but its result goes nowhere.
    pub(crate) fn silent(&self) -> Self {
        Self { format: Format::Text, paint: self.paint, verbose: false, output: None, silent: true, root: self.root.clone() }
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
    pub(crate) fn file(&self, place: &Place) -> String {
        match &self.root {
            None => place.file.to_string(),
            Some(root) if &*place.file == "." => root.display().to_string(),
            Some(root) => root.join(&*place.file).display().to_string(),
        }
    }

    /// File and line; a whole file has no line.
    pub(crate) fn at(&self, place: &Place) -> String {
        if place.line == 0 { self.file(place) } else { format!("{}:{}", self.file(place), place.line) }
    }

    /// Delivers the result. A reader that went away is not our failure; a full disk is.
    pub(crate) fn result(&self, text: &str, exit: Exit) -> Exit {
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
                self.say(&format!("the result could not be written: {error}"));
                if exit == Exit::Clean { Exit::Incomplete } else { exit }
            }
            Ok(()) | Err(_) => exit,
        }
    }

    /// Talk: progress, hints, complaints.
    pub(crate) fn say(&self, text: &str) {
        // Nobody to talk to is no reason to fail.
        drop(writeln!(std::io::stderr().lock(), "{text}"));
    }
}
