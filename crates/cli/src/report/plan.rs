//! A plan before anything is run.

use super::{FORMAT, table};
use crate::args::Format;
use crate::io::Io;
use campaign::Request;
use serde_json::json;

pub(crate) fn plan(io: &Io, request: &Request) -> String {
    let trials = request.outline.trials();
    match io.format {
        Format::Json => {
            let trials = serde_json::to_value(&trials).unwrap_or_default();
            let workspace = &request.workspace.hash;
            format!("{:#}\n", json!({ "format": FORMAT, "command": "run --dry-run", "workspace": workspace, "trials": trials, "exit": 0 }))
        }
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => {
            let rows: Vec<Vec<String>> = trials
                .iter()
                .map(|trial| vec![trial.id.short().to_owned(), trial.case.clone(), trial.subject.clone(), trial.seed.to_string()])
                .collect();
            format!("{}\n{} trials planned, nothing was run\n", table(&["trial", "case", "subject", "seed"], rows), trials.len())
        }
    }
}
