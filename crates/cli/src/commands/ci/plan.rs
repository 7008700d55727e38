//! `ci plan`: tiers that an event runs.

use crate::args::{CiPlanArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, table};
use crate::workspace_source::WorkspaceSource;
use campaign::{CiEvent, TierPlan, ci_plan};
use model::UserError;
use serde_json::json;
use std::io::Read;

/// Most bytes read from standard input.
const MAX_LIST_BYTES: u64 = 8 << 20;

pub(super) fn plan(io: &CliOutput, source: &WorkspaceSource, args: &CiPlanArgs) -> ExitKind {
    let workspace = match super::super::open_workspace(io, source, "ci plan") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let changed = match args.changed.as_deref().map(changed_files).transpose() {
        Ok(changed) => changed,
        Err(why) => return report::print_refusal(io, "ci plan", &[why]),
    };
    let root = match source {
        WorkspaceSource::Embedded => String::new(),
        WorkspaceSource::Folder(folder) => folder.to_string_lossy().replace('\\', "/").trim_start_matches("./").to_owned(),
    };
    let ci_event = CiEvent { event: args.event.clone(), changed, root, requested_tiers: args.tier.clone() };
    let tiers = match ci_plan(&workspace, &ci_event) {
        Ok(tiers) => tiers,
        Err(unknown) => return report::print_refusal(io, "ci plan", &unknown.into_iter().map(UserError::from).collect::<Vec<_>>()),
    };
    let runs: Vec<u64> = tiers.iter().filter(|tier| tier.runs).map(|tier| tier.tier).collect();
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", document(&ci_event, &tiers, &runs)),
        // Format of a step output in GitHub Actions.
        ReportFormat::Github => format!("tiers={}\n", json!(runs)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Sarif => text(&ci_event, tiers, &runs),
    };
    io.print_result(&text, ExitKind::Clean)
}

fn document(ci_event: &CiEvent, tiers: &[TierPlan], runs: &[u64]) -> serde_json::Value {
    let rows: Vec<_> =
        tiers.iter().map(|tier| json!({ "tier": tier.tier, "name": tier.name, "runs": tier.runs, "why": tier.why })).collect();
    json!({ "format": FORMAT, "command": "ci plan", "event": ci_event.event, "tiers": runs, "plan": rows, "exit": 0 })
}

fn text(ci_event: &CiEvent, tiers: Vec<TierPlan>, runs: &[u64]) -> String {
    let rows = tiers
        .into_iter()
        .map(|tier| vec![tier.tier.to_string(), tier.name, if tier.runs { "runs" } else { "skipped" }.to_owned(), tier.why])
        .collect();
    let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
    format!("{}\n{}: tiers {}\n", table(&["tier", "name", "", "why"], rows), ci_event.event, runs.join(", "))
}

/// Returns the changed files; `-` reads them from standard input, one path per line.
fn changed_files(given: &[String]) -> Result<Vec<String>, UserError> {
    if given != ["-"] {
        return Ok(given.to_vec());
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_LIST_BYTES).read_to_string(&mut text);
    read.map_err(|error| UserError::without_remedy(format!("cannot read the list of changed files: {error}")))?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}
