//! Smoke for a person: what failed first, then warnings, then counts.

use super::count;
use super::escape::visible;
use crate::io::Io;
use crate::open::Source;
use model::Workspace;
use score::checks::{CheckResult, Finding, Level};

/// Of one check's warnings only this many are shown unless all are asked for.
const SHOWN: usize = 3;

pub(super) fn render(io: &Io, source: &Source, workspace: &Workspace, results: &[CheckResult]) -> String {
    let mut text = String::new();
    for level in [Level::Error, Level::Warning] {
        for result in results {
            let findings: Vec<&Finding> = result.findings.iter().filter(|finding| finding.level == level).collect();
            let total = match level {
                Level::Error => result.errors(),
                Level::Warning => result.warnings(),
            };
            text.push_str(&section(io, result.check, level, &findings, total));
        }
    }
    for note in results.iter().flat_map(|result| &result.notes) {
        text.push_str(&format!("{}\n", visible(note)));
    }
    let errors: usize = results.iter().map(CheckResult::errors).sum();
    let warnings: usize = results.iter().map(CheckResult::warnings).sum();
    let failed = results.iter().filter(|result| result.errors() > 0).count();
    let looked: usize = results.iter().map(|result| result.looked_at).sum();
    let verdict = if failed == 0 { io.paint.good("passed") } else { io.paint.bad("failed") };
    text.push_str(&format!(
        "smoke {verdict}: {} of {} ok, {looked} things looked at, {}, {}\n",
        results.len() - failed,
        count(results.len(), "check"),
        count(errors, "error"),
        count(warnings, "warning")
    ));
    text.push_str(&io.paint.dim(&format!("workspace {}: {}, {}\n", source.label(), holdings(workspace), workspace.hash.short())));
    text
}

fn section(io: &Io, check: &str, level: Level, findings: &[&Finding], total: usize) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let (title, shown) = match level {
        Level::Error => (io.paint.bad(&format!("error {check}")), findings.len()),
        Level::Warning if io.verbose => (io.paint.unsure(&format!("warning {check}")), findings.len()),
        Level::Warning => (io.paint.unsure(&format!("warning {check}")), SHOWN),
    };
    let mut text = format!("{title}\n");
    for finding in findings.iter().take(shown) {
        let place = io.paint.strong(&visible(&io.at(&finding.at)));
        text.push_str(&format!("  {place}  {}  {}\n", visible(&finding.what), io.paint.dim(&visible(&finding.remedy))));
    }
    let hidden = total - findings.len().min(shown);
    if hidden > 0 {
        let hint = if io.verbose || level == Level::Error { "" } else { "; --verbose shows more" };
        text.push_str(&io.paint.dim(&format!("  and {hidden} more{hint}\n")));
    }
    text.push('\n');
    text
}

fn holdings(workspace: &Workspace) -> String {
    [
        count(workspace.tools.len(), "tool"),
        count(workspace.profiles.len(), "profile"),
        count(workspace.agents.len(), "agent"),
        count(workspace.skills.len(), "skill"),
        count(workspace.chains.len(), "chain"),
        count(workspace.gates.len(), "gate"),
        count(workspace.cases().count(), "case"),
    ]
    .join(", ")
}
