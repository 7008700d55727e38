//! Command-line program `bardo-eval`: arguments, output and exit codes. The logic is in the other crates.

mod args;
mod commands;
mod env;
mod exit;
mod files;
mod git;
mod io;
mod paint;
mod report;
mod sandbox;
mod shell;
mod signals;
mod store_location;
mod stored_runs;
mod workspace_source;

use args::{CliCommand, HelpTrade};
use exit::ExitKind;
use io::CliOutput;
use model::UserError;
use std::ffi::OsString;
use std::process::ExitCode;
use workspace_source::WorkspaceSource;

fn main() -> ExitCode {
    // Before anything else: the launcher is started for every agent and node, and must not wait for what it does not need.
    #[cfg(target_os = "linux")]
    if env::is_launcher() {
        return launcher::run_launcher();
    }
    if env::is_script_host() {
        return script::run_script_host().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    launcher::hide_process();
    launcher::enable_launcher();
    ::run::providers::install_tls_provider();
    world::chain::limit_hash_cache();
    store::set_busy_notice(io::print_store_wait);
    let words: Vec<OsString> = std::env::args_os().collect();
    let trade = if WorkspaceSource::named_in(&words).lacks_policy() { HelpTrade::General } else { HelpTrade::Defi };
    let cli = match args::parse_command_line(words, trade) {
        Ok(cli) => cli,
        Err(error) => return print_usage_error(&error),
    };
    let source = WorkspaceSource::choose(&cli.global);
    let io = CliOutput::new(&cli.global, &source);
    if let CliCommand::Promptfoo(args) = &cli.command {
        return commands::promptfoo(&io, &source, args);
    }
    for warning in args::former_flag_warnings(std::env::args()) {
        io.print_message(&warning);
    }
    if !cli.command.formats().contains(&cli.global.format) {
        let what = "only smoke, run, redteam and score have JUnit, Markdown, GitHub and SARIF reports; selftest, guard eval, compare and watch have Markdown";
        io.print_message(&UserError::new(what, "use --format text or json").to_string());
        return ExitKind::Usage.into();
    }
    let exit = match cli.command {
        CliCommand::Smoke(args) => commands::smoke(&io, &source, &args),
        CliCommand::Selftest(args) => commands::selftest(&io, &source, &args),
        CliCommand::Run(args) => commands::run(&io, &source, &args),
        CliCommand::Work(args) => {
            let is_named = cli.global.workspace.is_some() || cli.global.embedded;
            commands::work(&io, is_named.then_some(&source), &args)
        }
        CliCommand::Promptfoo(_) => ExitKind::Usage,
        CliCommand::Import(command) => commands::import(&io, &command),
        CliCommand::RedTeam(args) => commands::red_team(&io, &source, *args),
        CliCommand::Shrink(args) => commands::shrink(&io, &source, &args),
        CliCommand::Runs(command) => commands::runs(&io, &command),
        CliCommand::Store(command) => commands::store(&io, &command),
        CliCommand::Show(args) => commands::show(&io, &source, &args),
        CliCommand::View(args) => commands::view(&io, &source, &args),
        CliCommand::Score(args) => commands::score(&io, &source, &args),
        CliCommand::Compare(args) => commands::compare(&io, &source, &args),
        CliCommand::Export(args) => commands::export(&io, &args),
        CliCommand::Ci(command) => commands::ci(&io, &source, &command, cli.global.embedded),
        CliCommand::Cost(args) => commands::cost(&io, &source, &args),
        CliCommand::Golden(command) => commands::golden(&io, &source, &command),
        CliCommand::Chat(args) => commands::chat(&io, &source, &args),
        CliCommand::Collect(args) => commands::collect(&io, &source, &args),
        CliCommand::Watch(args) => commands::watch(&io, &source, &args),
        CliCommand::Case(command) => commands::case(&io, &source, &command),
        CliCommand::Guard(command) => commands::guard(&io, &command),
        CliCommand::Judge(command) => commands::judge(&io, &source, &command),
        CliCommand::Init(args) => commands::init(&io, &args),
        CliCommand::Tools(args) => commands::tools(&io, &source, &args),
        CliCommand::World(args) => commands::world(&io, &source, &args),
        CliCommand::List(args) => commands::list(&io, &source, &args),
        CliCommand::Explain { name } => commands::explain(&io, &source, &name),
        CliCommand::Doctor(args) => commands::doctor(&io, &source, &args),
        CliCommand::Completions { shell } => commands::completions(&io, shell),
        CliCommand::Man => commands::man(&io),
    };
    exit.into()
}

/// Prints what clap says, with a hint for a workspace that was given without its flag.
fn print_usage_error(error: &clap::Error) -> ExitCode {
    // A closed pipe is not a failure.
    drop(error.print());
    if let Some(hint) = args::usage_hint(error, |word| workspace_source::is_workspace(word.as_ref())) {
        io::print_hint(&hint);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(ExitKind::Usage.code()))
}
