//! bardo-eval: what a person sees. A command is a straight line of nouns; the logic lives in the other crates.

mod args;
mod commands;
mod env;
mod exit;
mod files;
mod io;
mod kept;
mod open;
mod paint;
mod report;

use args::{Cli, Command, Format};
use clap::Parser;
use exit::Exit;
use io::Io;
use model::UserError;
use open::Source;
use std::process::ExitCode;

fn main() -> ExitCode {
    ::run::providers::choose_tls();
    world::chain::bound_hashes();
    let cli = Cli::parse();
    let source = Source::choose(&cli.global);
    let io = Io::new(&cli.global, &source);
    let has_reports = matches!(cli.command, Command::Smoke(_) | Command::Run(_) | Command::Score(_));
    let is_plan = matches!(cli.command, Command::Ci(args::CiCommand::Plan(_)));
    let fits = match cli.global.format {
        Format::Text | Format::Json => true,
        Format::Github => has_reports || is_plan,
        Format::Junit | Format::Markdown | Format::Sarif => has_reports,
    };
    if !fits {
        let what = "only smoke, run and score have JUnit, Markdown, GitHub and SARIF reports";
        io.say(&UserError::new(what, "use --format text or json").to_string());
        return Exit::Usage.into();
    }
    let exit = match cli.command {
        Command::Smoke(args) => commands::smoke(&io, &source, &args),
        Command::Run(args) => commands::run(&io, &source, &args),
        Command::Runs(command) => commands::runs(&io, &command),
        Command::Show(args) => commands::show(&io, &source, &args),
        Command::Score(args) => commands::score(&io, &source, &args),
        Command::Ci(command) => commands::ci(&io, &source, &command),
        Command::Cost(args) => commands::cost(&io, &source, &args),
        Command::Golden(command) => commands::golden(&io, &source, &command),
        Command::Chat(args) => commands::chat(&io, &source, &args),
        Command::Case(command) => commands::case(&io, &source, &command),
        Command::Judge(command) => commands::judge(&io, &source, &command),
        Command::Init(args) => commands::init(&io, &args),
        Command::Tools(args) => commands::tools(&io, &source, &args),
        Command::World(args) => commands::world(&io, &source, &args),
        Command::List(args) => commands::list(&io, &source, args.what),
        Command::Explain { name } => commands::explain(&io, &source, &name),
        Command::Doctor(args) => commands::doctor(&io, &source, &args),
        Command::Completions { shell } => commands::completions(&io, shell),
    };
    exit.into()
}
