//! Reasons why a workspace is weaker than the specification, repeated by every report.

use super::escape::{escape_cell, escape_control};
use crate::io::CliOutput;
use model::Workspace;
use score::spec_bounds::{DeclaredDeviation, declared_deviations};
use serde_json::{Value, json};

/// Returns one line per declared reason, and one for each row that it excuses and that is less strict than the specification. Missing rows
/// are only counted.
pub(super) fn lines(io: &CliOutput, workspace: &Workspace) -> Vec<String> {
    let deviations = declared_deviations(workspace);
    deviations.iter().flat_map(|deviation| std::iter::once(line(io, deviation)).chain(lowered(deviation))).collect()
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

pub(super) fn json(io: &CliOutput, workspace: &Workspace) -> Value {
    let row = |deviation: &DeclaredDeviation| json!({ "file": io.file_path(&deviation.at), "line": deviation.at.line, "reason": deviation.reason, "covers": deviation.covers, "lowered": deviation.lowered });
    declared_deviations(workspace).iter().map(row).collect()
}
