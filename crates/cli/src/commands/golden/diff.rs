//! What a stored run does otherwise than the baselines.

use crate::args::{Format, GoldenDiffArgs};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{self, FORMAT, count, visible};
use campaign::{Golden, GoldenDiff};
use serde_json::json;

pub(super) fn diff(io: &Io, source: &Source, args: &GoldenDiffArgs) -> Exit {
    let workspace = match super::super::open(io, source, "golden diff") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let golden = match super::stored(source) {
        Ok(golden) if golden.shelves.is_empty() => {
            return report::refused(
                io,
                "golden diff",
                &["the workspace has no baseline  `bardo-eval golden update` makes them from a run".into()],
            );
        }
        Ok(golden) => golden,
        Err(wrong) => return report::refused(io, "golden diff", &wrong),
    };
    let (stored, subject) = match super::run_of(io, source, "golden diff", &workspace, &args.run) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let new = Golden::of(&workspace, &stored.record, subject, "");
    let diff = golden.diff(&workspace, &new, args.tolerance);
    let exit = if !diff.changed.is_empty() {
        Exit::Missed
    } else if diff.compared == 0 || !diff.missing.is_empty() {
        Exit::Incomplete
    } else {
        Exit::Clean
    };
    let text = match io.format {
        Format::Json => format!("{:#}\n", document(&diff, exit)),
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => text(io, &diff, stored.short()),
    };
    io.result(&text, exit)
}

fn document(diff: &GoldenDiff, exit: Exit) -> serde_json::Value {
    let changed: Vec<_> =
        diff.changed.iter().map(|one| json!({ "file": one.shelf.path(), "case": one.case, "changes": one.changes })).collect();
    let notes: Vec<_> = diff.notes.iter().map(|(shelf, note)| json!({ "file": shelf.path(), "note": note })).collect();
    let not_run: Vec<_> = diff.not_run.iter().map(score::golden::Shelf::path).collect();
    json!({ "format": FORMAT, "command": "golden diff", "compared": diff.compared, "changed": changed, "texts_unjudged": diff.unjudged,
        "missing": diff.missing, "not_run": not_run, "notes": notes, "exit": exit.code() })
}

fn text(io: &Io, diff: &GoldenDiff, run: &str) -> String {
    let mut text = String::new();
    for one in &diff.changed {
        for change in &one.changes {
            text.push_str(&format!("{}  {}  {}\n", io.paint.dim(&one.shelf.path()), io.paint.strong(&visible(&one.case)), visible(change)));
        }
    }
    for (shelf, note) in &diff.notes {
        text.push_str(&format!("{}  {}\n", io.paint.dim(&shelf.path()), visible(note)));
    }
    for case in &diff.missing {
        text.push_str(&format!("{}  the run has no evidence about it\n", visible(case)));
    }
    if !diff.not_run.is_empty() {
        let paths: Vec<String> = diff.not_run.iter().map(score::golden::Shelf::path).collect();
        text.push_str(&format!("not in this run: {}\n", paths.join(", ")));
    }
    text.push_str(&format!(
        "{} compared with run {run}: {} changed, {} missing; {} unjudged\n",
        count(diff.compared, "case"),
        diff.changed.len(),
        diff.missing.len(),
        count(diff.unjudged, "text")
    ));
    text
}
