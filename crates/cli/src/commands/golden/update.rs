//! `golden update`: writes baselines from a run. Refused in CI, because a person must review them.

use super::baselines::baseline_file;
use crate::args::GoldenRunArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, columns};
use crate::workspace_source::WorkspaceSource;
use crate::{env, files};
use campaign::GoldenSet;
use model::UserError;
use score::golden::{GoldenAnswers, GoldenFile, GoldenPath};
use std::io;
use std::path::Path;
use std::time::SystemTime;

pub(super) fn update(io: &CliOutput, source: &WorkspaceSource, args: &GoldenRunArgs) -> ExitKind {
    if env::var("CI").is_some_and(|value| value != "false" && value != "0") {
        let why = UserError::new("baselines are not updated in CI", "run it locally and have the change reviewed");
        return report::print_refusal(io, "golden update", &[why]);
    }
    if super::names_results(args) {
        return super::results::update_results(io, source, args);
    }
    let WorkspaceSource::Folder(root) = source else {
        let why = UserError::new("the embedded workspace cannot be changed", "write a copy with `bardo-eval init` first");
        return report::print_refusal(io, "golden update", &[why]);
    };
    let workspace = match super::super::open_workspace(io, source, "golden update") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let (stored, subject) = match super::run_and_subject(io, source, "golden update", &workspace, args) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if stored.run.workspace != workspace.hash {
        let what = format!("run {} was planned from another workspace: tools, cases or subjects changed since", stored.short_id());
        let why = UserError::new(what, "run the changed workspace first, with `golden update --run-first`");
        return report::print_refusal(io, "golden update", &[why]);
    }
    #[expect(clippy::disallowed_methods, reason = "a baseline records its date")]
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let day = date.get(..10).unwrap_or(&date);
    let golden = match GoldenSet::from_stored(&workspace, &stored.store, &stored.run, subject, day) {
        Ok(golden) => golden,
        Err(why) => return report::print_refusal(io, "golden update", &[why.into()]),
    };
    let before = match super::read_baselines(source) {
        Ok(before) => before.of_subject(&subject.name),
        Err(errors) => return report::print_refusal(io, "golden update", &errors),
    };
    let (mut text, mut written, mut partial) = (String::new(), 0, 0);
    for (path, baseline) in golden.baselines.iter().map(|(path, baseline)| (path, keep_date(&before, path, baseline))) {
        let lacking = golden.missing_cases(&workspace, path).len();
        if lacking > 0 {
            partial += 1;
            text.push_str(&columns([&baseline_file(io, path), &format!("not written: the run lacks {}\n", model::count(lacking, "case"))]));
            continue;
        }
        let emptied = path.with_answers(other(path.answers));
        let is_emptied = !golden.baselines.contains_key(&emptied);
        if let Err(error) = write_baseline(root, path, &baseline, is_emptied.then_some(&emptied)) {
            io.print_message(&format!("{} could not be written: {error}", baseline_file(io, path)));
            return ExitKind::Incomplete;
        }
        written += 1;
        text.push_str(&format!("{}  {}\n", baseline_file(io, path), model::count(baseline.entries.len(), "case")));
    }
    text.push_str(&format!("{} written from run {} of {}\n", model::count(written, "baseline"), stored.short_id(), *subject.name));
    let exit = if written == 0 || partial > 0 { ExitKind::Incomplete } else { ExitKind::Clean };
    io.print_result(&text, exit)
}

/// Writes a baseline, and removes the file whose answers all moved here and files of the subject at paths of earlier versions.
fn write_baseline(root: &Path, path: &GoldenPath, baseline: &GoldenFile, emptied: Option<&GoldenPath>) -> io::Result<()> {
    files::write(&root.join(path.path()), &baseline.to_lines())?;
    if let Some(emptied) = emptied {
        files::remove_if_exists(&root.join(emptied.path()))?;
    }
    let legacy = root.join(path.legacy_path());
    let text = files::read_if_exists(&legacy)?.unwrap_or_default();
    match GoldenFile::parse(&text) {
        Ok(file) if file.stamp.subject == path.subject => files::remove_if_exists(&legacy),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns the baseline with its earlier date, if nothing else changed.
fn keep_date(before: &GoldenSet, path: &GoldenPath, baseline: &GoldenFile) -> GoldenFile {
    match before.baselines.get(path) {
        Some(earlier) => baseline.clone().dated_like(earlier),
        None => baseline.clone(),
    }
}

fn other(answers: GoldenAnswers) -> GoldenAnswers {
    match answers {
        GoldenAnswers::Right => GoldenAnswers::KnownFailures,
        GoldenAnswers::KnownFailures => GoldenAnswers::Right,
    }
}
