//! `tools diff`: compares the tools of a server with the imported ones.

use super::server;
use crate::args::{ReportFormat, ServerArgs};
use crate::commands::open_workspace;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use model::{Tool, ToolListing, Workspace};
use serde_json::{Value, json};
use world::mcp::ServerListing;

pub(super) fn diff(io: &CliOutput, source: &WorkspaceSource, args: &ServerArgs) -> ExitKind {
    let workspace = match open_workspace(io, source, "tools diff") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let server = match server::server_source(args) {
        Ok(server) => server,
        Err(why) => return report::print_error(io, "tools diff", &why),
    };
    let listed = match server::list_tools(io, "tools diff", &server, args.timeout) {
        Ok(listed) => listed,
        Err(exit) => return exit,
    };
    let Some(category) = category(&workspace, &listed) else {
        io.print_message("none of this server's tools is in the workspace; run `bardo-eval tools import` first");
        return ExitKind::Incomplete;
    };
    let changes = changes(&workspace, &category, &listed);
    let exit = if changes.is_empty() { ExitKind::Clean } else { ExitKind::Missed };
    io.print_result(&render(io, &listed, &changes, exit), exit)
}

#[derive(Debug)]
struct ToolChange {
    tool: String,
    what: &'static str,
    before: String,
    after: String,
}

/// Returns the category that the server's tools were imported under: the one with most of them.
fn category(workspace: &Workspace, listed: &ServerListing) -> Option<String> {
    let mut counts: Vec<(usize, String)> = vec![];
    for tool in workspace.tools.iter().filter(|tool| tool.pinned.is_some()) {
        let Some(listing) = listed.tools.iter().find(|listing| listing.name == tool.server_name()) else { continue };
        // An unchanged tool tells two servers apart that share a name.
        let weight = if tool.pinned.as_ref().is_some_and(|pin| **pin == *listing.hash().as_str()) { 2 } else { 1 };
        match counts.iter_mut().find(|(_, category)| *category == tool.category) {
            Some((count, _)) => *count += weight,
            None => counts.push((weight, tool.category.clone())),
        }
    }
    counts.into_iter().max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1))).map(|(_, category)| category)
}

fn changes(workspace: &Workspace, category: &str, listed: &ServerListing) -> Vec<ToolChange> {
    let pinned: Vec<&Tool> = workspace.tools.iter().filter(|tool| tool.category == category && tool.pinned.is_some()).collect();
    let mut changes = vec![];
    for tool in &pinned {
        match listed.tools.iter().find(|listing| listing.name == tool.server_name()) {
            None => changes.push(tool_change(&tool.name, "removed", String::new(), String::new())),
            Some(now) => changes.extend(compare(tool, now)),
        }
    }
    for listing in listed.tools.iter().filter(|listing| !pinned.iter().any(|tool| tool.server_name() == listing.name)) {
        changes.push(tool_change(&listing.name, "added", String::new(), listing.description.clone()));
    }
    changes
}

fn compare(tool: &Tool, now: &ToolListing) -> Vec<ToolChange> {
    let before = tool.server_listing();
    // Workspaces store descriptions trimmed, so surrounding white space is not a change.
    let mut found = vec![];
    if before.description != now.description.trim() {
        found.push(tool_change(&tool.name, "description changed", before.description.clone(), now.description.clone()));
    }
    if before.input_schema != now.input_schema {
        found.push(tool_change(&tool.name, "schema changed", before.input_schema.to_string(), now.input_schema.to_string()));
    }
    if found.is_empty() && tool.pinned.as_ref().is_some_and(|pin| **pin != *now.hash().as_str()) {
        found.push(tool_change(
            &tool.name,
            "pin does not match",
            tool.pinned.as_ref().map(|pin| pin.value.clone()).unwrap_or_default(),
            now.hash().to_string(),
        ));
    }
    found
}

fn tool_change(tool: &str, what: &'static str, before: String, after: String) -> ToolChange {
    ToolChange { tool: tool.to_owned(), what, before, after }
}

fn render(io: &CliOutput, listed: &ServerListing, changes: &[ToolChange], exit: ExitKind) -> String {
    match io.format {
        ReportFormat::Json => {
            let rows: Vec<Value> = changes
                .iter()
                .map(|change| json!({ "tool": change.tool, "what": change.what, "before": change.before, "after": change.after }))
                .collect();
            format!(
                "{:#}\n",
                json!({ "format": 1, "command": "tools diff", "server": listed.server, "changes": rows, "exit": exit.code() })
            )
        }
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            let mut text = String::new();
            for change in changes {
                text.push_str(&format!("{}  {}\n", io.paint.strong(&escape_server_text(&change.tool)), change.what));
                for (sign, side) in [("-", &change.before), ("+", &change.after)] {
                    if !side.is_empty() {
                        text.push_str(&format!("  {sign} {}\n", escape_server_text(side)));
                    }
                }
            }
            let (tools, changes) = (model::count(listed.tools.len(), "tool"), model::count(changes.len(), "change"));
            text.push_str(&format!("{tools} on the server, {changes} since the import\n"));
            text
        }
    }
}

/// Truncates text from a server and escapes control characters, which could manipulate the terminal.
fn escape_server_text(text: &str) -> String {
    let short: String = text.chars().take(300).collect();
    report::escape_control(&short)
}
