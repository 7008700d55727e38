//! Output formats that each command has.

use super::{CiCommand, Cli, CliCommand, HelpTrade, ReportFormat};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, ValueEnum};
use std::ffi::OsString;

const PLAIN: &[ReportFormat] = &[ReportFormat::Text, ReportFormat::Json];
/// `ci plan` writes a step output of GitHub Actions.
const PLAN: &[ReportFormat] = &[ReportFormat::Text, ReportFormat::Json, ReportFormat::Github];
/// Commands with tables, but without findings that have a file and line: `selftest`, `guard eval`, `compare` and `watch`.
const TABLES: &[ReportFormat] = &[ReportFormat::Text, ReportFormat::Json, ReportFormat::Markdown];
const REPORTS: &[&str] = &["smoke", "run", "redteam", "score"];

impl CliCommand {
    /// Returns the formats of the command, also for a format that is given before its name.
    pub(crate) fn formats(&self) -> &'static [ReportFormat] {
        match self {
            CliCommand::Smoke(_) | CliCommand::Run(_) | CliCommand::RedTeam(_) | CliCommand::Score(_) => ReportFormat::value_variants(),
            CliCommand::Selftest(_) | CliCommand::Guard(_) | CliCommand::Compare(_) | CliCommand::Watch(_) => TABLES,
            CliCommand::Ci(CiCommand::Plan(_)) => PLAN,
            CliCommand::Ci(CiCommand::Github(_) | CiCommand::Gitlab(_) | CiCommand::Verdict(_))
            | CliCommand::Work(_)
            | CliCommand::Promptfoo(_)
            | CliCommand::Import(_)
            | CliCommand::Shrink(_)
            | CliCommand::Runs(_)
            | CliCommand::Store(_)
            | CliCommand::Show(_)
            | CliCommand::View(_)
            | CliCommand::Export(_)
            | CliCommand::Cost(_)
            | CliCommand::Golden(_)
            | CliCommand::Chat(_)
            | CliCommand::Collect(_)
            | CliCommand::Case(_)
            | CliCommand::Judge(_)
            | CliCommand::Init(_)
            | CliCommand::Tools(_)
            | CliCommand::World(_)
            | CliCommand::List(_)
            | CliCommand::Explain { .. }
            | CliCommand::Doctor(_)
            | CliCommand::Completions { .. }
            | CliCommand::Man => PLAIN,
        }
    }
}

/// Returns the command line, in which every command offers only its own formats.
pub(crate) fn command_line() -> Command {
    let command = Cli::command();
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |sub| match name.as_str() {
            name if REPORTS.contains(&name) => sub.arg(format_arg(ReportFormat::value_variants())),
            "selftest" => sub.arg(format_arg(TABLES)),
            "guard" => sub.mut_subcommand("eval", |eval| eval.arg(format_arg(TABLES))).arg(format_arg(TABLES)),
            "compare" | "watch" => sub.arg(format_arg(TABLES)),
            "ci" => sub.mut_subcommand("plan", |plan| plan.arg(format_arg(PLAN))).arg(format_arg(PLAIN)),
            _ => sub.arg(format_arg(PLAIN)),
        })
    })
}

/// Parses the arguments of a process, its own name included.
///
/// # Errors
/// Mistakes in the arguments, and requests for help or the version.
pub(crate) fn parse_command_line(args: Vec<OsString>, trade: HelpTrade) -> Result<Cli, clap::Error> {
    let mut command = trade.adapt(command_line());
    let mut matches: ArgMatches = command.try_get_matches_from_mut(with_config_command(args))?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Reads `run CONFIG.yaml` as `promptfoo CONFIG.yaml`. No other first argument of `run` has such an ending.
fn with_config_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let is_config = |word: &OsString| {
        let word = word.to_string_lossy();
        !word.starts_with('-') && [".yaml", ".yml", ".json"].iter().any(|ending| word.ends_with(ending))
    };
    if args.get(1).is_some_and(|word| word == "run") && args.get(2).is_some_and(is_config) {
        args[1] = "promptfoo".into();
    }
    args
}

/// Replaces the option of all commands in one of them and in those below it.
fn format_arg(formats: &'static [ReportFormat]) -> Arg {
    let names = PossibleValuesParser::new(formats.iter().filter_map(ValueEnum::to_possible_value));
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .help("Output format")
        .help_heading(super::GLOBAL_HEADING)
        .global(true)
        .default_value("text")
        .value_parser(names.try_map(|name| ReportFormat::from_str(&name, false)))
}

#[cfg(test)]
mod tests {
    use super::{Cli, command_line};
    use clap::Parser;

    #[test]
    fn commands_offer_their_own_formats() {
        command_line().debug_assert();
        for (args, is_taken) in [
            (&["list", "cases", "--format", "json"][..], true),
            (&["list", "cases", "--format", "junit"], false),
            (&["run", "--format", "junit"], true),
            (&["redteam", "--format", "sarif"], true),
            (&["--format", "sarif", "smoke"], true),
            (&["score", "--format", "markdown"], true),
            (&["selftest", "--format", "markdown"], true),
            (&["selftest", "--format", "junit"], false),
            (&["compare", "8d41f0", "--format", "markdown"], true),
            (&["compare", "8d41f0", "--format", "junit"], false),
            (&["watch", "--once", "--format", "markdown"], true),
            (&["runs", "list", "--format", "github"], false),
            (&["runs", "list", "--format", "json"], true),
            (&["ci", "plan", "--event", "merge", "--format", "github"], true),
            (&["ci", "plan", "--event", "merge", "--format", "junit"], false),
            (&["ci", "github", "--format", "github"], false),
            (&["guard", "eval", "--format", "markdown"], true),
            (&["guard", "eval", "--format", "junit"], false),
        ] {
            let parsed = command_line().try_get_matches_from([&["bardo-eval"], args].concat());
            assert_eq!(parsed.is_ok(), is_taken, "{args:?}: {parsed:?}");
            // The derived command line takes every format, as that of a format before the command does.
            let cli = Cli::try_parse_from([&["bardo-eval"], args].concat()).expect("a command");
            assert_eq!(cli.command.formats().contains(&cli.global.format), is_taken, "{args:?}");
        }
    }
}
