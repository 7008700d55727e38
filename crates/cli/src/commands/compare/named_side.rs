//! Side of a comparison as named on the command line: `RUN`, `golden`, a result file of promptfoo, or one of them with `@SUBJECT`.

use super::super::golden::read_baselines;
use super::super::plain_results::{names_results, read_plain_results};
use crate::io::CliOutput;
use crate::stored_runs::{self, OpenedRun};
use crate::workspace_source::WorkspaceSource;
use campaign::{ComparedSide, GoldenSet, PlainResult, UnjudgedTrials, golden_side, plain_side, stored_side};
use model::{UserError, Workspace};
use std::collections::BTreeSet;
use std::path::Path;
use store::{StoreLocation, StoredRun};

/// Name of the baselines.
const GOLDEN: &str = "golden";

#[derive(Debug)]
pub(in crate::commands) struct NamedSide {
    input: SideInput,
    /// Subject that was named.
    subject: Option<String>,
}

#[derive(Debug)]
enum SideInput {
    Golden(GoldenSet),
    Run(Box<OpenedRun>),
    Results { file: String, results: Vec<PlainResult> },
}

impl NamedSide {
    /// Opens a side; without a name the last stored run.
    pub(in crate::commands) fn open(source: &WorkspaceSource, store: &StoreLocation, name: Option<&str>) -> Result<Self, Vec<UserError>> {
        let (name, subject) = match name.map(|name| name.split_once('@').map_or((name, None), |(name, subject)| (name, Some(subject)))) {
            Some((name, subject)) => (Some(name), subject.map(str::to_owned)),
            None => (None, None),
        };
        let input = if name == Some(GOLDEN) {
            let golden = read_baselines(source)?;
            if golden.baselines.is_empty() {
                let remedy = "create one with `bardo-eval golden update`, or name a run";
                return Err(vec![UserError::new("the workspace has no baseline", remedy)]);
            }
            SideInput::Golden(golden)
        } else if let Some(file) = name.filter(|name| names_results(name)) {
            SideInput::Results { file: file.to_owned(), results: read_plain_results(Path::new(file)).map_err(|why| vec![why])? }
        } else {
            SideInput::Run(Box::new(stored_runs::open_run(store, name).map_err(|why| vec![why])?))
        };
        let side = Self { input, subject };
        match &side.subject {
            Some(subject) if !side.all_subjects().contains(subject) => {
                let what = format!("{} has no subject \"{subject}\"", side.label());
                Err(vec![UserError::new(what, format!("it has {}", side.all_subjects().join(", ")))])
            }
            Some(_) | None => Ok(side),
        }
    }

    pub(in crate::commands) fn stored_run(&self) -> Option<&StoredRun> {
        match &self.input {
            SideInput::Golden(_) | SideInput::Results { .. } => None,
            SideInput::Run(opened) => Some(&opened.run),
        }
    }

    /// Says that trials of the run have not run, so that it is no whole side.
    pub(in crate::commands) fn print_unfinished(&self, io: &CliOutput, store_flag: &str) {
        if let Some(note) = self.stored_run().and_then(|run| stored_runs::unfinished_note(io, run, store_flag)) {
            io.print_message(&note);
        }
    }

    pub(in crate::commands) fn golden(&self) -> Option<&GoldenSet> {
        match &self.input {
            SideInput::Golden(golden) => Some(golden),
            SideInput::Run(_) | SideInput::Results { .. } => None,
        }
    }

    fn label(&self) -> String {
        match &self.input {
            SideInput::Golden(_) => "the golden baseline".to_owned(),
            SideInput::Run(opened) => format!("run {}", opened.short_id()),
            SideInput::Results { file, .. } => file.clone(),
        }
    }

    fn all_subjects(&self) -> Vec<String> {
        match &self.input {
            SideInput::Golden(golden) => golden.subjects().into_iter().map(str::to_owned).collect(),
            SideInput::Run(opened) => opened.run.subjects.clone(),
            SideInput::Results { results, .. } => {
                let subjects: BTreeSet<&str> = results.iter().map(|result| result.subject.as_str()).collect();
                subjects.into_iter().map(str::to_owned).collect()
            }
        }
    }

    /// Returns the named subject, or all.
    pub(in crate::commands) fn choice(&self) -> SubjectChoice {
        let subjects = self.subject.clone().map_or_else(|| self.all_subjects(), |subject| vec![subject]);
        SubjectChoice { label: self.label(), subjects, is_named: self.subject.is_some(), is_golden: self.golden().is_some() }
    }

    /// Returns how this side counts trials without a verdict of the judge.
    pub(in crate::commands) fn unjudged(&self) -> UnjudgedTrials {
        match &self.input {
            SideInput::Golden(_) => UnjudgedTrials::Pass,
            SideInput::Run(_) | SideInput::Results { .. } => UnjudgedTrials::NoResult,
        }
    }

    pub(in crate::commands) fn read<'w>(
        &self,
        workspace: &'w Workspace,
        subject: &str,
        unjudged: UnjudgedTrials,
    ) -> Result<ComparedSide<'w>, UserError> {
        match &self.input {
            SideInput::Run(opened) => Ok(stored_side(workspace, &opened.store, &opened.run, subject, unjudged)?),
            SideInput::Results { file, results } => Ok(plain_side(workspace, file, subject, results)),
            SideInput::Golden(golden) => {
                let absent = || UserError::unknown("subject", subject, workspace.subjects.iter().map(|known| known.name.as_str()));
                Ok(golden_side(workspace, golden, workspace.subject(subject).ok_or_else(absent)?))
            }
        }
    }
}

/// Subjects of one side that may be compared.
#[derive(Debug)]
pub(in crate::commands) struct SubjectChoice {
    /// Name of the side in messages.
    pub label: String,
    pub subjects: Vec<String>,
    /// The user named the subject.
    pub is_named: bool,
    pub is_golden: bool,
}

/// Returns the subjects to compare: the only ones, else those with the same name on both sides. Baselines are compared with another
/// subject only if it was named.
pub(in crate::commands) fn pair_subjects(before: &SubjectChoice, after: &SubjectChoice) -> Result<Vec<(String, String)>, UserError> {
    if let ([one], [other]) = (before.subjects.as_slice(), after.subjects.as_slice())
        && (before.is_named || after.is_named || !(before.is_golden || after.is_golden))
    {
        return Ok(vec![(one.clone(), other.clone())]);
    }
    let common = after.subjects.iter().filter(|subject| before.subjects.contains(subject));
    let pairs: Vec<(String, String)> = common.map(|subject| (subject.clone(), subject.clone())).collect();
    if pairs.is_empty() {
        let names = |side: &SubjectChoice| format!("{} has {}", side.label, side.subjects.join(", "));
        let what = format!("no subject in common: {}, {}", names(before), names(after));
        return Err(UserError::new(what, "name the subjects, as in 8d41f0@baseline 52ab9e@claude-sonnet"));
    }
    Ok(pairs)
}
