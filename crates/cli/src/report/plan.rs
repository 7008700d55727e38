//! A plan before anything is run.

use super::{FORMAT, table};
use crate::args::Format;
use crate::io::Io;
use campaign::{Estimate, Request, estimate};
use model::SubjectFile;
use serde_json::json;

pub(crate) fn plan(io: &Io, request: &Request) -> String {
    let trials = request.outline.trials();
    let estimate = expected(request);
    match io.format {
        Format::Json => {
            let trials = serde_json::to_value(&trials).unwrap_or_default();
            let workspace = &request.workspace.hash;
            format!(
                "{:#}\n",
                json!({ "format": FORMAT, "command": "run --dry-run", "workspace": workspace, "trials": trials, "calls": estimate.calls, "seconds": estimate.seconds, "likely_usd": estimate.likely.map(model::Money::as_usd), "exit": 0 })
            )
        }
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => {
            let rows: Vec<Vec<String>> = trials
                .iter()
                .map(|trial| vec![trial.id.short().to_owned(), trial.case.clone(), trial.subject.clone(), trial.seed.to_string()])
                .collect();
            format!(
                "{}\n{}\n{} trials planned, nothing was run\n",
                table(&["trial", "case", "subject", "seed"], rows),
                told(request, estimate),
                trials.len()
            )
        }
    }
}

fn expected(request: &Request) -> Estimate {
    let cases: Vec<_> = request.outline.cases.iter().filter_map(|planned| request.workspace.case(&planned.case)).collect();
    let subjects: Vec<&SubjectFile> = request.subjects.iter().collect();
    let tier = request.workspace.tiers.tiers.iter().find(|tier| Some(tier.tier) == request.claim.tier);
    estimate(&request.workspace, &cases, &subjects, request.outline.trials, tier.map(|tier| tier.live))
}

/// Against what the tier may take and cost.
fn told(request: &Request, estimate: Estimate) -> String {
    let tier = request.workspace.tiers.tiers.iter().find(|tier| Some(tier.tier) == request.claim.tier);
    let minutes = tier.and_then(|tier| tier.minutes_at_most).map_or_else(String::new, |most| format!(" of {most} allowed"));
    let budget = tier.map_or_else(String::new, |tier| format!(" of {:.2} budgeted", tier.budget_usd));
    let likely = estimate.likely.map_or_else(|| "at a price nobody knows".to_owned(), |money| format!("likely {money} USD{budget}"));
    format!(
        "models asked about {} times: {:.1} minutes{minutes} at 8 calls of 3 s at once, {likely}",
        estimate.calls,
        estimate.seconds as f64 / 60.0
    )
}
