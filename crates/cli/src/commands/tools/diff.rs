//! What a server changed since its tools were imported.

use super::server;
use crate::args::{Format, ServerArgs};
use crate::commands::open;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report;
use model::{Listing, Tool, Workspace};
use serde_json::{Value, json};
use world::mcp::Listed;

pub(super) fn diff(io: &Io, source: &Source, args: &ServerArgs) -> Exit {
    let workspace = match open(io, source, "tools diff") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let server = match server::source(args) {
        Ok(server) => server,
        Err(why) => return report::complained(io, "tools diff", &why),
    };
    let listed = match server::list(io, "tools diff", &server, args.timeout) {
        Ok(listed) => listed,
        Err(exit) => return exit,
    };
    let Some(category) = category(&workspace, &listed) else {
        io.say("none of this server's tools was imported into the workspace; run `bardo-eval tools import` first");
        return Exit::Incomplete;
    };
    let changes = changes(&workspace, &category, &listed);
    let exit = if changes.is_empty() { Exit::Clean } else { Exit::Missed };
    io.result(&show(io, &listed, &changes, exit), exit)
}

#[derive(Debug)]
struct Change {
    tool: String,
    what: &'static str,
    before: String,
    after: String,
}

/// The category the server's tools were imported under: where most of them stand.
fn category(workspace: &Workspace, listed: &Listed) -> Option<String> {
    let mut counts: Vec<(usize, String)> = vec![];
    for tool in listed.tools.iter().filter_map(|tool| workspace.tool(&tool.name)).filter(|tool| tool.pinned.is_some()) {
        match counts.iter_mut().find(|(_, category)| *category == tool.category) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, tool.category.clone())),
        }
    }
    counts.into_iter().max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1))).map(|(_, category)| category)
}

fn changes(workspace: &Workspace, category: &str, listed: &Listed) -> Vec<Change> {
    let pinned: Vec<&Tool> = workspace.tools.iter().filter(|tool| tool.category == category && tool.pinned.is_some()).collect();
    let mut changes = vec![];
    for tool in &pinned {
        match listed.tools.iter().find(|listing| listing.name == *tool.name) {
            None => changes.push(change(&tool.name, "removed", String::new(), String::new())),
            Some(now) => changes.extend(compare(tool, now)),
        }
    }
    for listing in listed.tools.iter().filter(|listing| !pinned.iter().any(|tool| *tool.name == listing.name)) {
        changes.push(change(&listing.name, "added", String::new(), listing.description.clone()));
    }
    changes
}

fn compare(tool: &Tool, now: &Listing) -> Vec<Change> {
    let before = tool.listing();
    // The description is kept trimmed in a workspace; white space around it is not a change.
    let mut found = vec![];
    if before.description != now.description.trim() {
        found.push(change(&tool.name, "description changed", before.description.clone(), now.description.clone()));
    }
    if before.input_schema != now.input_schema {
        found.push(change(&tool.name, "schema changed", before.input_schema.to_string(), now.input_schema.to_string()));
    }
    if found.is_empty() && tool.pinned.as_ref().is_some_and(|pin| **pin != *now.hash().as_str()) {
        found.push(change(
            &tool.name,
            "pin does not match",
            tool.pinned.as_ref().map(|pin| pin.value.clone()).unwrap_or_default(),
            now.hash().to_string(),
        ));
    }
    found
}

fn change(tool: &str, what: &'static str, before: String, after: String) -> Change {
    Change { tool: tool.to_owned(), what, before, after }
}

fn show(io: &Io, listed: &Listed, changes: &[Change], exit: Exit) -> String {
    match io.format {
        Format::Json => {
            let rows: Vec<Value> = changes
                .iter()
                .map(|change| json!({ "tool": change.tool, "what": change.what, "before": change.before, "after": change.after }))
                .collect();
            format!(
                "{:#}\n",
                json!({ "format": 1, "command": "tools diff", "server": listed.server, "changes": rows, "exit": exit.code() })
            )
        }
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => {
            let mut text = String::new();
            for change in changes {
                text.push_str(&format!("{}  {}\n", io.paint.strong(&safe(&change.tool)), change.what));
                for (sign, side) in [("-", &change.before), ("+", &change.after)] {
                    if !side.is_empty() {
                        text.push_str(&format!("  {sign} {}\n", safe(side)));
                    }
                }
            }
            text.push_str(&format!("{} tools at the server, {} changes since the import\n", listed.tools.len(), changes.len()));
            text
        }
    }
}

/// A server chose this text; it must not move the cursor or colour the terminal.
fn safe(text: &str) -> String {
    let short: String = text.chars().take(300).collect();
    short.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}
