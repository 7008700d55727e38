//! Parts of the workspace that changed, the cases they selected, and those left out.

use super::RunReport;
use super::escape::escape_control;
use super::wrap::wrap;
use crate::io::CliOutput;
use score::workspace_changes::{ChangedSelection, SelectionReason};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Names of a kind that are listed.
const MAX_NAMES: usize = 5;

/// Returns the changes in one line.
pub(crate) fn changed_text(selected: &ChangedSelection) -> String {
    let names = |all: &BTreeSet<String>| {
        let shown: Vec<&str> = all.iter().take(MAX_NAMES).map(String::as_str).collect();
        let more = all.len().saturating_sub(MAX_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    };
    let parts: Vec<String> = selected.changes.by_kind().into_iter().map(|(kind, all)| format!("{kind} {}", names(all))).collect();
    let near: BTreeSet<String> = selected.near.iter().map(|near| near.tool.clone()).collect();
    let neighbours = selected.cases.iter().filter(|(_, why)| *why == SelectionReason::NearTool).count();
    let near = match neighbours {
        0 => String::new(),
        cases => format!(" ({cases} of them of tools that read alike: {})", names(&near)),
    };
    let shown = match selected.cases.iter().filter(|(_, why)| *why == SelectionReason::Shown).count() {
        0 => String::new(),
        cases => format!(" ({cases} of them show what changed)"),
    };
    let chosen = model::count(selected.cases.len(), "case");
    escape_control(&format!("changed: {}; {chosen} selected{near}{shown}, {} left out", parts.join("; "), selected.left_out))
}

/// Says that further cases could differ; `None` if none of those left out shows what changed.
pub(crate) fn left_out_note(left_out_showing: usize, against: Option<&str>) -> Option<String> {
    let all = against.map_or("run without --changed".to_owned(), |against| format!("run --against {against}"));
    let what = "cases that show a changed tool, agent or skill but do not expect it were left out";
    (left_out_showing > 0).then(|| format!("{what} ({left_out_showing}): {all} plays them all"))
}

pub(super) fn text(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let Some(selected) = shown.changed else { return String::new() };
    // A comparison has the note itself.
    let note = if shown.against.is_some() { None } else { left_out_note(selected.left_out_showing, None) };
    let lines = [Some(changed_text(selected)), note].into_iter().flatten();
    lines.flat_map(|line| wrap(&line, io.width.saturating_sub(2))).map(|line| format!("{line}\n")).collect()
}

pub(super) fn json(selected: &ChangedSelection) -> Value {
    let near: Vec<Value> =
        selected.near.iter().map(|near| json!({ "changed": near.changed, "tool": near.tool, "similarity": near.similarity })).collect();
    let cases: Vec<Value> = selected.cases.iter().map(|(case, why)| json!({ "case": case, "why": reason(*why) })).collect();
    let parts: serde_json::Map<String, Value> =
        selected.changes.by_kind().into_iter().map(|(kind, names)| (kind.to_owned(), json!(names))).collect();
    json!({ "parts": parts, "near": near, "cases": cases, "left_out": selected.left_out, "left_out_showing": selected.left_out_showing })
}

fn reason(why: SelectionReason) -> &'static str {
    match why {
        SelectionReason::Case => "case",
        SelectionReason::Tool => "tool",
        SelectionReason::Agent => "agent",
        SelectionReason::Skill => "skill",
        SelectionReason::Profile => "profile",
        SelectionReason::World => "world",
        SelectionReason::Shared => "file",
        SelectionReason::NearTool => "near_tool",
        SelectionReason::Shown => "shown",
    }
}
