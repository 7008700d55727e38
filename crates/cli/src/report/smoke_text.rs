//! Smoke as text: errors first, then warnings, then counts.

use super::deviations;
use super::escape::escape_control;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use model::Workspace;
use score::checks::{CheckFinding, CheckResult, FindingLevel};

/// Findings per check shown without `--verbose`.
const MAX_ERRORS_SHOWN: usize = 10;
const MAX_WARNINGS_SHOWN: usize = 1;

pub(super) fn render(io: &CliOutput, source: &WorkspaceSource, workspace: &Workspace, results: &[CheckResult]) -> String {
    let mut text = String::new();
    for level in [FindingLevel::Error, FindingLevel::Warning] {
        for result in results {
            let findings: Vec<&CheckFinding> = result.findings.iter().filter(|finding| finding.level == level).collect();
            let total = match level {
                FindingLevel::Error => result.errors(),
                FindingLevel::Warning => result.warnings(),
            };
            text.push_str(&section(io, result.check, level, &findings, total));
        }
    }
    for note in results.iter().flat_map(|result| &result.notes) {
        text.push_str(&format!("{}\n", escape_control(note)));
    }
    text.push_str(&deviations::text(io, workspace));
    let failed = results.iter().any(|result| result.errors() > 0);
    let verdict = if failed { io.paint.bad("failed") } else { io.paint.good("passed") };
    text.push_str(&format!("smoke {verdict}: {}\n", counts(results)));
    text.push_str(&io.paint.dim(&format!("workspace {}: {}, {}\n", source.label(), content_counts(workspace), workspace.hash.short())));
    text
}

/// Returns the verdict in one line without colours, for standard error.
pub(super) fn verdict_line(results: &[CheckResult]) -> String {
    let failed = results.iter().any(|result| result.errors() > 0);
    format!("smoke {}: {}", if failed { "failed" } else { "passed" }, counts(results))
}

fn counts(results: &[CheckResult]) -> String {
    let errors: usize = results.iter().map(CheckResult::errors).sum();
    let warnings: usize = results.iter().map(CheckResult::warnings).sum();
    let waived: usize = results.iter().map(CheckResult::waived).sum();
    let failed = results.iter().filter(|result| result.errors() > 0).count();
    let looked: usize = results.iter().map(|result| result.looked_at).sum();
    format!(
        "{} of {} ok, {} inspected, {}, {}{}",
        results.len() - failed,
        model::count(results.len(), "check"),
        model::count(looked, "item"),
        model::count(errors, "error"),
        model::count(warnings, "warning"),
        if waived == 0 { String::new() } else { format!(", {} waived", model::count(waived, "finding")) }
    )
}

fn section(io: &CliOutput, check: &str, level: FindingLevel, findings: &[&CheckFinding], total: usize) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let (title, most) = match level {
        FindingLevel::Error => (io.paint.bad(&format!("error {check}")), MAX_ERRORS_SHOWN),
        FindingLevel::Warning => (io.paint.unsure(&format!("warning {check}")), MAX_WARNINGS_SHOWN),
    };
    let shown = if io.verbose { findings.len() } else { most };
    let mut text = format!("{title}\n");
    for finding in findings.iter().take(shown) {
        let place = io.paint.strong(&escape_control(&io.location(&finding.at)));
        let remedy = if finding.remedy.is_empty() { String::new() } else { format!("; {}", escape_control(&finding.remedy)) };
        text.push_str(&format!("  {place}  {}{}\n", escape_control(&finding.what), io.paint.dim(&remedy)));
    }
    let hidden = total - findings.len().min(shown);
    if hidden > 0 {
        let hint = if io.verbose { "" } else { "; --verbose shows more" };
        text.push_str(&io.paint.dim(&format!("  and {hidden} more{hint}\n")));
    }
    text
}

fn content_counts(workspace: &Workspace) -> String {
    let chains = workspace.policy.as_ref().map(|_| model::count(workspace.chains.len(), "chain"));
    let first = [
        model::count(workspace.tools.len(), "tool"),
        model::count(workspace.profiles.len(), "profile"),
        model::count(workspace.agents.len(), "agent"),
        model::count(workspace.skills.len(), "skill"),
    ];
    let last = [model::count(workspace.gates.len(), "gate"), model::count(workspace.cases().count(), "case")];
    first.into_iter().chain(chains).chain(last).collect::<Vec<_>>().join(", ")
}
