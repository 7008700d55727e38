//! Which baselines are no longer about what is there.

use crate::args::Format;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{self, FORMAT, count, table};
use campaign::Status;
use serde_json::json;

pub(super) fn status(io: &Io, source: &Source) -> Exit {
    let workspace = match super::super::open(io, source, "golden status") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let golden = match super::stored(source) {
        Ok(golden) => golden,
        Err(wrong) => return report::refused(io, "golden status", &wrong),
    };
    let found = golden.status(&workspace);
    let stale = found.iter().filter(|status| !status.stale.is_empty()).count();
    let exit = match (golden.shelves.is_empty(), stale) {
        (true, _) => Exit::Incomplete,
        (false, 0) => Exit::Clean,
        (false, _) => Exit::Missed,
    };
    let text = match io.format {
        Format::Json => format!("{:#}\n", document(&found, exit)),
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => text(io, &found, stale),
    };
    io.result(&text, exit)
}

fn document(found: &[Status], exit: Exit) -> serde_json::Value {
    let shelves: Vec<_> = found
        .iter()
        .map(|status| {
            json!({ "file": status.shelf.path(), "cases": status.cases, "stale": status.stale,
                "subject": status.stamp.as_ref().map(|stamp| &stamp.subject), "model": status.stamp.as_ref().map(|stamp| &stamp.model),
                "catalogue": status.stamp.as_ref().map(|stamp| &stamp.catalogue), "date": status.stamp.as_ref().map(|stamp| &stamp.date) })
        })
        .collect();
    json!({ "format": FORMAT, "command": "golden status", "baselines": shelves, "exit": exit.code() })
}

fn text(io: &Io, found: &[Status], stale: usize) -> String {
    let rows = found
        .iter()
        .map(|status| {
            let (model, date) = status.stamp.as_ref().map_or(("–", "–"), |stamp| (stamp.model.as_str(), stamp.date.as_str()));
            let state = if status.stale.is_empty() { "fresh" } else { "stale" };
            vec![status.shelf.path(), model.to_owned(), date.to_owned(), status.cases.to_string(), state.to_owned()]
        })
        .collect();
    let mut text = format!("{}\n", table(&["baseline", "model", "date", "cases", "state"], rows));
    for status in found {
        for why in &status.stale {
            text.push_str(&format!("{}  {why}\n", io.paint.strong(&status.shelf.path())));
        }
    }
    text.push_str(&format!("{}, {stale} stale\n", count(found.len(), "baseline")));
    text
}
