//! A case drafted from a stored trial, checked as if it already stood in the workspace.

use super::chat::Seat;
use crate::args::{CaseCommand, CaseNewArgs};
use crate::exit::Exit;
use crate::io::Io;
use crate::kept;
use crate::open::Source;
use crate::report;
use ::score::checks::Level;
use campaign::{Draft, draft};
use model::{Files, UserError, Workspace, yaml};

pub(crate) fn case(io: &Io, source: &Source, command: &CaseCommand) -> Exit {
    match command {
        CaseCommand::New(args) => new(io, source, args),
    }
}

fn new(io: &Io, source: &Source, args: &CaseNewArgs) -> Exit {
    let (files, workspace) = match source.files().and_then(|files| Workspace::load(&files).map(|workspace| (files, workspace))) {
        Ok(opened) => opened,
        Err(problems) => return report::problems(io, "case new", &problems),
    };
    super::warn(io, &workspace);
    let drafted = match from_trial(&workspace, args) {
        Ok(drafted) => drafted,
        Err(why) => return report::refused(io, "case new", &[why]),
    };
    let path = format!("suites/{}/{}.yaml", drafted.kind.word(), drafted.id);
    let text = format!(
        "# Drafted from trial {}. It expects what happened; make it expect what should have happened.\n{}",
        args.from,
        yaml::emit(&drafted.suite)
    );
    let doubts = doubts(files, &path, &text);
    for doubt in &doubts {
        io.say(&doubt.to_string());
    }
    if doubts.is_empty() {
        io.say(&format!("smoke accepts it as {path} of the workspace"));
    }
    io.result(&text, if doubts.is_empty() { Exit::Clean } else { Exit::Missed })
}

fn from_trial(workspace: &Workspace, args: &CaseNewArgs) -> Result<Draft, UserError> {
    let (run, trial) =
        args.from.split_once('/').ok_or_else(|| UserError::plain("a trial is written RUN/TRIAL, by the beginnings of their ids"))?;
    let run = kept::run(&args.store.store, Some(run))?;
    let found = run.trial(trial)?;
    let seat = Seat::named(workspace, &found.transcript.case)?;
    Ok(draft(workspace, &seat.brief, found.transcript, args.id.as_deref())?)
}

/// What smoke would say about the draft, and about nothing else.
fn doubts(mut files: Files, path: &str, text: &str) -> Vec<UserError> {
    files.insert(path, text);
    let workspace = match Workspace::load(&files) {
        Ok(workspace) => workspace,
        Err(problems) => return problems.into_iter().map(UserError::from).collect(),
    };
    let results = ::score::checks::smoke(&workspace, 1);
    let findings = results.into_iter().flat_map(|result| result.findings);
    let own = findings.filter(|finding| finding.level == Level::Error && &*finding.at.file == path);
    own.map(UserError::from).collect()
}
