//! Reasons why a workspace is weaker than the specification and why findings of checks are waived, repeated by every report.

use super::escape::{escape_cell, escape_control};
use crate::io::CliOutput;
use model::{CheckWaiver, Workspace};
use score::spec_bounds::{DeclaredDeviation, declared_deviations};
use serde_json::{Value, json};

/// Returns one line per declared reason, and one for each row that it excuses and that is less strict than the specification. Missing rows
/// are only counted.
pub(super) fn lines(io: &CliOutput, workspace: &Workspace) -> Vec<String> {
    let deviations = declared_deviations(workspace);
    let reasons = deviations.iter().flat_map(|deviation| std::iter::once(line(io, deviation)).chain(lowered(deviation)));
    reasons.chain(workspace.defaults.waivers.iter().map(|waiver| waiver_line(io, waiver))).collect()
}

fn waiver_line(io: &CliOutput, waiver: &CheckWaiver) -> String {
    let place = waiver.place.as_ref().map_or_else(String::new, |place| format!(" in {place}"));
    let (at, reason) = (escape_control(&io.location(&waiver.at)), escape_control(&waiver.reason));
    format!("waived: {}{}  {reason}  ({at})", *waiver.check, escape_control(&place))
}

fn line(io: &CliOutput, deviation: &DeclaredDeviation) -> String {
    let rows = model::count(deviation.covers.len(), "difference");
    let (place, reason) = (escape_control(&io.location(&deviation.at)), escape_control(&deviation.reason));
    format!("weaker than the specification: {place}  {reason}  ({rows})")
}

fn lowered(deviation: &DeclaredDeviation) -> impl Iterator<Item = String> {
    deviation.lowered.iter().map(|what| format!("weaker than the specification: {}", escape_control(what)))
}

pub(super) fn text(io: &CliOutput, workspace: &Workspace) -> String {
    lines(io, workspace).iter().map(|line| io.paint.unsure(&format!("{line}\n"))).collect()
}

pub(super) fn markdown(io: &CliOutput, workspace: &Workspace) -> String {
    let lines: String = lines(io, workspace).iter().map(|line| format!("- {}\n", escape_cell(line))).collect();
    if lines.is_empty() { lines } else { format!("\n### Deviations\n\n{lines}") }
}

pub(super) fn waivers_json(io: &CliOutput, workspace: &Workspace) -> Value {
    let row = |waiver: &CheckWaiver| json!({ "check": waiver.check.value, "where": waiver.place, "reason": waiver.reason, "file": io.file_path(&waiver.at), "line": waiver.at.line });
    workspace.defaults.waivers.iter().map(row).collect()
}

pub(super) fn json(io: &CliOutput, workspace: &Workspace) -> Value {
    let row = |deviation: &DeclaredDeviation| json!({ "file": io.file_path(&deviation.at), "line": deviation.at.line, "reason": deviation.reason, "covers": deviation.covers, "lowered": deviation.lowered });
    declared_deviations(workspace).iter().map(row).collect()
}
