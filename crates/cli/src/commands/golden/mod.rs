//! `golden`: writes baselines from runs, compares runs with them, and reports stale ones.

mod baselines;
mod diff;
mod results;
mod status;
mod update;

pub(super) use baselines::read_baselines;

use crate::args::{Cli, CliCommand, GoldenCommand, GoldenRunArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::stored_runs::{self, OpenedRun};
use crate::workspace_source::WorkspaceSource;
use clap::Parser;
use model::{AgentEndpoint, SubjectFile, UserError, Workspace};

/// Subject of `--run-first` by default; it needs no API key.
const DEFAULT_SUBJECT: &str = "baseline";

pub(crate) fn golden(io: &CliOutput, source: &WorkspaceSource, command: &GoldenCommand) -> ExitKind {
    match command {
        GoldenCommand::Status => status::status(io, source),
        GoldenCommand::Diff(args) if names_results(&args.run) => results::diff_results(io, source, &args.run),
        GoldenCommand::Diff(args) => diff::diff(io, source, args),
        GoldenCommand::Update(args) => update::update(io, source, args),
    }
}

/// Returns whether a result file of promptfoo is named in place of a run.
fn names_results(args: &GoldenRunArgs) -> bool {
    args.run.as_deref().is_some_and(super::plain_results::names_results)
}

/// Runs every case with the subject and stores the run, which becomes the last one.
fn run_subject(io: &CliOutput, source: &WorkspaceSource, args: &GoldenRunArgs) -> Result<(), ExitKind> {
    let subject = args.subject.as_deref().unwrap_or(DEFAULT_SUBJECT);
    let store = args.store.store.to_string();
    let words = ["bardo-eval", "run", "--subject", subject, "--store", &store];
    let Ok(Cli { command: CliCommand::Run(run), .. }) = Cli::try_parse_from(words) else {
        return Err(report::print_refusal(io, "golden", &[UserError::without_remedy(format!("subject \"{subject}\" cannot be run"))]));
    };
    // Missed gates are fine: a baseline records what a subject does, not that it is good.
    match super::run(&io.silent(), source, &run) {
        ExitKind::Usage => Err(ExitKind::Usage),
        ExitKind::Clean | ExitKind::Missed | ExitKind::Incomplete => Ok(()),
    }
}

/// Returns a stored run and the subject whose trials are used.
fn run_and_subject<'w>(
    io: &CliOutput,
    source: &WorkspaceSource,
    command: &str,
    workspace: &'w Workspace,
    args: &GoldenRunArgs,
) -> Result<(OpenedRun, &'w SubjectFile), ExitKind> {
    if args.play {
        run_subject(io, source, args)?;
    }
    let stored = stored_runs::open_run_of_cases(&args.store.store, args.run.as_deref());
    let stored = stored.map_err(|why| report::print_refusal(io, command, &[why]))?;
    let subjects = stored.store.subjects_of_run(&stored.run);
    let subjects = subjects.map_err(|why| report::print_refusal(io, command, &[why.into()]))?;
    let mut names: Vec<&str> = subjects.iter().map(String::as_str).collect();
    names.sort_unstable();
    let chosen = match (&args.subject, names.as_slice()) {
        (Some(name), names) if names.contains(&name.as_str()) => name.clone(),
        (Some(name), names) => {
            let what = format!("run {} has no subject \"{name}\"", stored.short_id());
            return Err(report::print_refusal(io, command, &[UserError::new(what, format!("it has {}", names.join(", ")))]));
        }
        (None, [only]) => (*only).to_owned(),
        (None, names) => {
            let what = format!("run {} has {}", stored.short_id(), model::count(names.len(), "subject"));
            let remedy = format!("choose one with --subject: {}", names.join(", "));
            return Err(report::print_refusal(io, command, &[UserError::new(what, remedy)]));
        }
    };
    match workspace.subject(&chosen) {
        Some(subject) => Ok((stored, subject)),
        None => {
            let what = format!("the workspace has no subject \"{chosen}\"");
            Err(report::print_refusal(io, command, &[UserError::new(what, missing_file_remedy(&chosen))]))
        }
    }
}

/// Returns what to do about a subject without a file. An agent of the command line gets a name by one.
fn missing_file_remedy(subject: &str) -> String {
    let agent = campaign::inline_subject(subject).and_then(Result::ok);
    let Some((provider, endpoint)) = agent.and_then(|agent| Some((agent.provider, agent.external?.endpoint))) else {
        return "a baseline needs a subject file in the workspace".to_owned();
    };
    let address = match endpoint {
        AgentEndpoint::Command(words) => format!("command: [{}]", words.join(", ")),
        AgentEndpoint::Url(_) => "url:".to_owned(),
    };
    format!(
        "a baseline needs a name that stays: write subjects/NAME.yaml with subject: NAME, provider: {}, {address} and about:, and run --subject NAME",
        provider.word()
    )
}
