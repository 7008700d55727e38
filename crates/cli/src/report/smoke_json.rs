//! Smoke as JSON.

use super::{FORMAT, deviations};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use model::Workspace;
use score::checks::CheckResult;
use serde_json::{Value, json};

pub(super) fn render(io: &CliOutput, workspace: &Workspace, results: &[CheckResult], exit: ExitKind) -> String {
    let checks: Vec<Value> = results
        .iter()
        .map(|result| {
            let findings: Vec<Value> = result
                .findings
                .iter()
                .map(|finding| {
                    json!({ "level": finding.level, "file": io.file_path(&finding.at), "line": finding.at.line,
                        "what": finding.what, "remedy": finding.remedy })
                })
                .collect();
            json!({ "check": result.check, "looked_at": result.looked_at, "errors": result.errors(), "warnings": result.warnings(), "waived": result.waived(),
                "notes": result.notes, "findings": findings })
        })
        .collect();
    let document = json!({
        "format": FORMAT, "command": "smoke", "workspace": workspace.hash, "checks": checks, "verdicts": [], "metrics": [],
        "deviations": deviations::json(io, workspace), "waivers": deviations::waivers_json(io, workspace),
        "trials": { "planned": 0, "finished": 0, "aborted": 0 }, "spent_usd": 0.0, "exit": exit.code(),
    });
    format!("{document:#}\n")
}
