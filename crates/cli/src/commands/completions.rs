//! `completions`: shell completion scripts.

use crate::args::Cli;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use clap::CommandFactory;

pub(crate) fn completions(io: &CliOutput, shell: clap_complete::Shell) -> ExitKind {
    let mut script = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "bardo-eval", &mut script);
    io.print_result(&String::from_utf8_lossy(&script), ExitKind::Clean)
}
