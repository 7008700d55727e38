//! Golden baselines: keep what a run did, see what changed, see what is stale.

mod diff;
mod status;
mod update;

use crate::args::{Cli, Command, GoldenCommand, GoldenRunArgs};
use crate::exit::Exit;
use crate::io::Io;
use crate::kept::{self, KeptRun};
use crate::open::Source;
use crate::report;
use campaign::Golden;
use clap::Parser;
use model::{Place, SubjectFile, UserError, Workspace};
use score::golden::{GoldenFile, Shelf};

/// Who is played where nobody is named: it needs no key.
const PLAYED: &str = "baseline";

pub(crate) fn golden(io: &Io, source: &Source, command: &GoldenCommand) -> Exit {
    match command {
        GoldenCommand::Status => status::status(io, source),
        GoldenCommand::Diff(args) => diff::diff(io, source, args),
        GoldenCommand::Update(args) => update::update(io, source, args),
    }
}

/// The baselines of a workspace. A file that cannot be read is a mistake of the files, like any other.
fn stored(source: &Source) -> Result<Golden, Vec<UserError>> {
    let files = source.files().map_err(|problems| problems.into_iter().map(UserError::from).collect::<Vec<_>>())?;
    let (mut golden, mut wrong) = (Golden::default(), vec![]);
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("golden/") && !path.ends_with("README.md")) {
        match (Shelf::at(path), GoldenFile::parse(text)) {
            (None, _) => {
                let remedy = "baselines are golden/<profile>/<kind of suite>.jsonl";
                wrong.push(UserError::new("nothing reads this file", remedy).at(Place::new(path, 0)));
            }
            (Some(_), Err(error)) => {
                let place = Place::new(path, u32::try_from(error.line).unwrap_or(0));
                wrong.push(UserError::new(error.why, "make it again with `bardo-eval golden update`").at(place));
            }
            (Some(shelf), Ok(baseline)) => {
                golden.shelves.insert(shelf, baseline);
            }
        }
    }
    if wrong.is_empty() { Ok(golden) } else { Err(wrong) }
}

/// Plays every case with the subject and keeps the run, so that it is the last one.
fn play(io: &Io, source: &Source, args: &GoldenRunArgs) -> Result<(), Exit> {
    let subject = args.subject.as_deref().unwrap_or(PLAYED);
    let store = args.store.store.to_string_lossy();
    let words = ["bardo-eval", "run", "--subject", subject, "--store", &store];
    let Ok(Cli { command: Command::Run(run), .. }) = Cli::try_parse_from(words) else {
        return Err(report::refused(io, "golden", &[UserError::plain(format!("\"{subject}\" cannot be played"))]));
    };
    // Gates may be missed: a baseline says what a subject does, not that it is good.
    match super::run(&io.silent(), source, &run) {
        Exit::Usage => Err(Exit::Usage),
        Exit::Clean | Exit::Missed | Exit::Incomplete => Ok(()),
    }
}

/// A stored run and the subject it is about.
fn run_of<'w>(
    io: &Io,
    source: &Source,
    command: &str,
    workspace: &'w Workspace,
    args: &GoldenRunArgs,
) -> Result<(KeptRun, &'w SubjectFile), Exit> {
    if args.play {
        play(io, source, args)?;
    }
    let stored = kept::run(&args.store.store, args.run.as_deref()).map_err(|why| report::refused(io, command, &[why]))?;
    let mut names: Vec<&str> = stored.record.plan.trials.iter().map(|trial| trial.subject.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let chosen = match (&args.subject, names.as_slice()) {
        (Some(name), names) if names.contains(&name.as_str()) => name.clone(),
        (Some(name), names) => {
            let what = format!("run {} has no subject \"{name}\"", stored.short());
            return Err(report::refused(io, command, &[UserError::new(what, format!("it has {}", names.join(", ")))]));
        }
        (None, [only]) => (*only).to_owned(),
        (None, names) => {
            let what = format!("run {} has {} subjects", stored.short(), names.len());
            let remedy = format!("say which with --subject: {}", names.join(", "));
            return Err(report::refused(io, command, &[UserError::new(what, remedy)]));
        }
    };
    match workspace.subject(&chosen) {
        Some(subject) => Ok((stored, subject)),
        None => {
            let what = format!("the workspace has no subject \"{chosen}\"");
            Err(report::refused(io, command, &[UserError::new(what, "a baseline belongs to a subject file")]))
        }
    }
}
