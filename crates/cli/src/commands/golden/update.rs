//! Keeping what a run did as the baseline. A person does that, and another reviews it: never a machine on its own.

use crate::args::GoldenRunArgs;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{self, columns, count};
use crate::{env, files};
use campaign::Golden;
use model::UserError;
use std::time::SystemTime;

pub(super) fn update(io: &Io, source: &Source, args: &GoldenRunArgs) -> Exit {
    if env::value("CI").is_some_and(|value| value != "false" && value != "0") {
        let why = UserError::new("baselines are not updated under CI", "run it on your machine and have the change reviewed");
        return report::refused(io, "golden update", &[why]);
    }
    let Source::Folder(root) = source else {
        let why = UserError::new("the embedded workspace cannot be changed", "write it out with `bardo-eval init` first");
        return report::refused(io, "golden update", &[why]);
    };
    let workspace = match super::super::open(io, source, "golden update") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let (stored, subject) = match super::run_of(io, source, "golden update", &workspace, args) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    #[expect(clippy::disallowed_methods, reason = "a baseline says when it was made")]
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let golden = Golden::of(&workspace, &stored.record, subject, date.get(..10).unwrap_or(&date));
    let (mut text, mut written, mut partial) = (String::new(), 0, 0);
    for (shelf, baseline) in &golden.shelves {
        let lacking = golden.lacking(&workspace, shelf).len();
        if lacking > 0 {
            partial += 1;
            text.push_str(&columns([&shelf.path(), &format!("left alone: the run lacks {} of it\n", count(lacking, "case"))]));
            continue;
        }
        if let Err(error) = files::write(&root.join(shelf.path()), &baseline.to_lines()) {
            io.say(&format!("{} could not be written: {error}", shelf.path()));
            return Exit::Incomplete;
        }
        written += 1;
        text.push_str(&format!("{}  {}\n", shelf.path(), count(baseline.entries.len(), "case")));
    }
    text.push_str(&format!("{} written from run {} of {}\n", count(written, "baseline"), stored.short(), *subject.name));
    let exit = if written == 0 || partial > 0 { Exit::Incomplete } else { Exit::Clean };
    io.result(&text, exit)
}
