//! How the program ends. When several reasons apply, the first of usage, gate, incomplete, clean wins.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Clean,
    /// A gate was missed or a check failed.
    Missed,
    /// Wrong arguments or mistakes in files; nothing ran.
    Usage,
    /// Aborted trials, missing evidence, an empty selection.
    Incomplete,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Missed => 1,
            Exit::Usage => 2,
            Exit::Incomplete => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
