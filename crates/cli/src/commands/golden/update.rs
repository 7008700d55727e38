//! `golden update`: writes baselines from a run. Refused in CI, because a person must review them.

use crate::args::GoldenRunArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, columns};
use crate::workspace_source::WorkspaceSource;
use crate::{env, files};
use campaign::GoldenSet;
use model::UserError;
use std::time::SystemTime;

pub(super) fn update(io: &CliOutput, source: &WorkspaceSource, args: &GoldenRunArgs) -> ExitKind {
    if env::var("CI").is_some_and(|value| value != "false" && value != "0") {
        let why = UserError::new("baselines are not updated in CI", "run it locally and have the change reviewed");
        return report::print_refusal(io, "golden update", &[why]);
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
    #[expect(clippy::disallowed_methods, reason = "a baseline records its date")]
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let golden = GoldenSet::from_record(&workspace, &stored.record, subject, date.get(..10).unwrap_or(&date));
    let (mut text, mut written, mut partial) = (String::new(), 0, 0);
    for (shelf, baseline) in &golden.shelves {
        let lacking = golden.missing_cases(&workspace, shelf).len();
        if lacking > 0 {
            partial += 1;
            text.push_str(&columns([&shelf.path(), &format!("not written: the run lacks {}\n", model::count(lacking, "case"))]));
            continue;
        }
        if let Err(error) = files::write(&root.join(shelf.path()), &baseline.to_lines()) {
            io.print_message(&format!("{} could not be written: {error}", shelf.path()));
            return ExitKind::Incomplete;
        }
        written += 1;
        text.push_str(&format!("{}  {}\n", shelf.path(), model::count(baseline.entries.len(), "case")));
    }
    text.push_str(&format!("{} written from run {} of {}\n", model::count(written, "baseline"), stored.short_id(), *subject.name));
    let exit = if written == 0 || partial > 0 { ExitKind::Incomplete } else { ExitKind::Clean };
    io.print_result(&text, exit)
}
