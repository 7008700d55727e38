//! `completions`: shell completion scripts.

use crate::args::command_line;
use crate::exit::ExitKind;
use crate::io::CliOutput;

pub(crate) fn completions(io: &CliOutput, shell: clap_complete::Shell) -> ExitKind {
    let mut script = vec![];
    clap_complete::generate(shell, &mut command_line(), "bardo-eval", &mut script);
    io.print_result(&String::from_utf8_lossy(&script), ExitKind::Clean)
}
