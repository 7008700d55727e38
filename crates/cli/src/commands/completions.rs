//! Completion scripts.

use crate::args::Cli;
use crate::exit::Exit;
use crate::io::Io;
use clap::CommandFactory;

pub(crate) fn completions(io: &Io, shell: clap_complete::Shell) -> Exit {
    let mut script = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "bardo-eval", &mut script);
    io.result(&String::from_utf8_lossy(&script), Exit::Clean)
}
