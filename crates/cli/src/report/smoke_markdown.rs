//! Smoke as Markdown, for a job summary.

use super::deviations;
use super::escape::{escape_cell, markdown_code};
use crate::io::CliOutput;
use model::Workspace;
use score::checks::{CheckResult, FindingLevel};

pub(super) fn render(io: &CliOutput, workspace: &Workspace, results: &[CheckResult]) -> String {
    let errors: usize = results.iter().map(CheckResult::errors).sum();
    let warnings: usize = results.iter().map(CheckResult::warnings).sum();
    let verdict = if errors == 0 { "passed" } else { "failed" };
    let mut text = format!(
        "## Smoke {verdict}\n\n{}, {}, {}\n",
        model::count(results.len(), "check"),
        model::count(errors, "error"),
        model::count(warnings, "warning")
    );
    for (level, title) in [(FindingLevel::Error, "Errors"), (FindingLevel::Warning, "Warnings")] {
        let rows: String = results
            .iter()
            .flat_map(|result| &result.findings)
            .filter(|finding| finding.level == level)
            .map(|finding| {
                format!(
                    "| {} | {} | {} | {} |\n",
                    finding.check,
                    markdown_code(&io.location(&finding.at)),
                    escape_cell(&finding.what),
                    escape_cell(&finding.remedy)
                )
            })
            .collect();
        if !rows.is_empty() {
            text.push_str(&format!("\n### {title}\n\n| check | where | what | remedy |\n|---|---|---|---|\n{rows}"));
        }
    }
    text.push_str(&deviations::markdown(io, workspace));
    text
}
