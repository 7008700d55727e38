//! What a stored run does otherwise than the baselines.

use super::super::{block_on, judge, models, open};
use crate::args::{Format, GoldenDiffArgs};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{self, FORMAT, columns, count, visible};
use ::run::judge::Judge;
use ::run::providers::{Cassette, Terms};
use campaign::{Golden, GoldenDiff, Says, Wordings, judge_wordings};
use model::{UserError, Workspace};
use score::golden::Shelf;
use serde_json::{Value, json};

const COMMAND: &str = "golden diff";

/// Who was asked about texts, what is known about them, and what it cost.
struct Asked {
    judge: String,
    known: Option<String>,
    spent: model::Money,
}

pub(super) fn diff(io: &Io, source: &Source, args: &GoldenDiffArgs) -> Exit {
    let workspace = match open(io, source, COMMAND) {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let golden = match super::stored(source) {
        Ok(golden) if golden.shelves.is_empty() => {
            let why = UserError::new("the workspace has no baseline", "`bardo-eval golden update` makes them from a run");
            return report::refused(io, COMMAND, &[why]);
        }
        Ok(golden) => golden,
        Err(wrong) => return report::refused(io, COMMAND, &wrong),
    };
    let hired = match args.judge.as_deref().map(|name| hire(&workspace, name, args)).transpose() {
        Ok(hired) => hired,
        Err(why) => return report::refused(io, COMMAND, &[why]),
    };
    let (stored, subject) = match super::run_of(io, source, COMMAND, &workspace, &args.run) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let new = Golden::of(&workspace, &stored.record, subject, "");
    let mut diff = golden.diff(&workspace, &new, args.tolerance);
    let asked = match hired.map(|hired| ask(&workspace, &mut diff, hired, args)).transpose() {
        Ok(asked) => asked,
        Err(why) => {
            io.say(&format!("the judge was not asked: {why}"));
            return Exit::Incomplete;
        }
    };
    let exit = exit(&diff, asked.is_some());
    let text = match io.format {
        Format::Json => format!("{:#}\n", document(&diff, asked.as_ref(), exit)),
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => text(io, &diff, asked.as_ref(), stored.short()),
    };
    io.result(&text, exit)
}

fn hire(workspace: &Workspace, name: &str, args: &GoldenDiffArgs) -> Result<(Judge, Terms), UserError> {
    let terms = models::terms(Some(args.budget));
    let judge = models::judge(models::subject(workspace, name)?, &terms, Cassette::Off)?;
    Ok((judge, terms))
}

fn ask(workspace: &Workspace, diff: &mut GoldenDiff, hired: (Judge, Terms), args: &GoldenDiffArgs) -> std::io::Result<Asked> {
    let (who, terms) = hired;
    let at_once = usize::try_from(args.concurrency).unwrap_or(1);
    block_on(judge_wordings(&who, diff, at_once))?;
    let name = args.judge.clone().unwrap_or_default();
    Ok(Asked { known: judge::known(workspace, &args.run.store.store, &name), judge: name, spent: terms.budget.spent() })
}

/// A judge that was asked and gave no verdict leaves the comparison open, never clean.
fn exit(diff: &GoldenDiff, was_asked: bool) -> Exit {
    if !diff.changed.is_empty() {
        Exit::Missed
    } else if diff.compared == 0 || !diff.missing.is_empty() || (was_asked && diff.wordings().unjudged > 0) {
        Exit::Incomplete
    } else {
        Exit::Clean
    }
}

fn document(diff: &GoldenDiff, asked: Option<&Asked>, exit: Exit) -> Value {
    let changed: Vec<_> =
        diff.changed.iter().map(|one| json!({ "file": one.shelf.path(), "case": one.case, "changes": one.changes })).collect();
    let notes: Vec<_> = diff.notes.iter().map(|(shelf, note)| json!({ "file": shelf.path(), "note": note })).collect();
    let not_run: Vec<_> = diff.not_run.iter().map(Shelf::path).collect();
    let Wordings { same, different, unjudged } = diff.wordings();
    let unread: Vec<_> = unread(diff).map(|(_, case, why)| json!({ "case": case, "why": why })).collect();
    let judge = asked.map(|asked| json!({ "name": asked.judge, "known": asked.known, "spent_usd": asked.spent.as_usd() }));
    json!({ "format": FORMAT, "command": COMMAND, "compared": diff.compared, "changed": changed, "texts_unjudged": unjudged,
        "texts_same": same, "texts_different": different, "judge": judge, "without_verdict": unread,
        "missing": diff.missing, "not_run": not_run, "notes": notes, "exit": exit.code() })
}

fn text(io: &Io, diff: &GoldenDiff, asked: Option<&Asked>, run: &str) -> String {
    let mut text = String::new();
    for one in &diff.changed {
        for change in &one.changes {
            text.push_str(&format!("{}  {}  {}\n", io.paint.dim(&one.shelf.path()), io.paint.strong(&visible(&one.case)), visible(change)));
        }
    }
    for (shelf, case, why) in unread(diff) {
        let (shelf, case) = (io.paint.dim(&shelf.path()), io.paint.strong(&visible(case)));
        text.push_str(&columns([&shelf, &case, &format!("a text was not judged: {}\n", visible(why))]));
    }
    for (shelf, note) in &diff.notes {
        text.push_str(&format!("{}  {}\n", io.paint.dim(&shelf.path()), visible(note)));
    }
    for case in &diff.missing {
        text.push_str(&columns([&visible(case), "the run has no evidence about it\n"]));
    }
    if !diff.not_run.is_empty() {
        let paths: Vec<String> = diff.not_run.iter().map(Shelf::path).collect();
        text.push_str(&format!("not in this run: {}\n", paths.join(", ")));
    }
    let Wordings { same, different, unjudged } = diff.wordings();
    if let Some(asked) = asked {
        text.push_str(&asked.known.as_ref().map_or_else(String::new, |known| format!("{}\n", visible(known))));
        text.push_str(&format!("texts in other words: {same} say the same, {different} something else; asked for {} USD\n", asked.spent));
    }
    text.push_str(&format!(
        "{} compared with run {run}: {} changed, {} missing; {} unjudged\n",
        count(diff.compared, "case"),
        diff.changed.len(),
        diff.missing.len(),
        count(unjudged, "text")
    ));
    text
}

/// The texts that a judge was asked about in vain.
fn unread(diff: &GoldenDiff) -> impl Iterator<Item = (&Shelf, &str, &str)> {
    diff.reworded.iter().filter_map(|wording| match &wording.says {
        Says::Unjudged { why } => Some((&wording.shelf, wording.case.as_str(), why.as_str())),
        Says::Unasked | Says::TheSame | Says::Otherwise { .. } => None,
    })
}
