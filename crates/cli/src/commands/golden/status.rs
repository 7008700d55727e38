//! `golden status`: baselines and why they are stale.

use super::baselines::baseline_file;
use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, table};
use crate::workspace_source::WorkspaceSource;
use campaign::BaselineStatus;
use serde_json::json;

pub(super) fn status(io: &CliOutput, source: &WorkspaceSource) -> ExitKind {
    let workspace = match super::super::open_workspace(io, source, "golden status") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let golden = match super::read_baselines(source) {
        Ok(golden) => golden,
        Err(errors) => return report::print_refusal(io, "golden status", &errors),
    };
    let found = golden.status(&workspace, super::DEFAULT_SUBJECT);
    let stale = found.iter().filter(|status| !status.stale.is_empty()).count();
    let exit = match (golden.baselines.is_empty(), stale) {
        (true, _) => ExitKind::Incomplete,
        (false, 0) => ExitKind::Clean,
        (false, _) => ExitKind::Missed,
    };
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", document(io, &found, exit)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            text(io, &found, stale)
        }
    };
    io.print_result(&text, exit)
}

fn document(io: &CliOutput, found: &[BaselineStatus], exit: ExitKind) -> serde_json::Value {
    let baselines: Vec<_> = found
        .iter()
        .map(|status| {
            json!({ "file": baseline_file(io, &status.path), "cases": status.cases, "stale": status.stale,
                "subject": status.stamp.as_ref().map(|stamp| &stamp.subject), "model": status.stamp.as_ref().map(|stamp| &stamp.model),
                "catalogue": status.stamp.as_ref().map(|stamp| &stamp.catalogue), "date": status.stamp.as_ref().map(|stamp| &stamp.date) })
        })
        .collect();
    json!({ "format": FORMAT, "command": "golden status", "baselines": baselines, "exit": exit.code() })
}

fn text(io: &CliOutput, found: &[BaselineStatus], stale: usize) -> String {
    let rows = found
        .iter()
        .map(|status| {
            let (model, date) = status.stamp.as_ref().map_or(("–", "–"), |stamp| (stamp.model.as_str(), stamp.date.as_str()));
            let state = if status.stale.is_empty() { "fresh" } else { "stale" };
            vec![baseline_file(io, &status.path), model.to_owned(), date.to_owned(), status.cases.to_string(), state.to_owned()]
        })
        .collect();
    let mut text = format!("{}\n", table(&["baseline", "model", "date", "cases", "state"], rows));
    for status in found {
        for why in &status.stale {
            text.push_str(&format!("{}  {why}\n", io.paint.strong(&baseline_file(io, &status.path))));
        }
    }
    text.push_str(&format!("{}, {stale} stale\n", model::count(found.len(), "baseline")));
    text
}
