//! `cost`: cost of stored runs, and savings.

use crate::args::{CostArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, table};
use crate::stored_runs;
use crate::workspace_source::WorkspaceSource;
use campaign::{CallTotals, CostReport, RunCost, SpendEntry, cost_report};
use model::{Money, UserError, Workspace};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::{Store, StoreError, StoredRun};

pub(crate) fn cost(io: &CliOutput, source: &WorkspaceSource, args: &CostArgs) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "cost") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let runs = match read_run_costs(args) {
        Ok(runs) => runs,
        Err(why) => return report::print_refusal(io, "cost", &[why]),
    };
    let bill = cost_report(&workspace, &runs);
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", document(&workspace, &bill, runs.len())),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            text(&workspace, &bill, runs.len())
        }
    };
    io.print_result(&text, ExitKind::Clean)
}

fn read_run_costs(args: &CostArgs) -> Result<Vec<RunCost>, UserError> {
    let (store, _) = stored_runs::find_run(&args.store.store, None)?;
    let runs = stored_runs::list_runs(&args.store.store)?;
    let since = args.since.as_ref().map(|since| since.timestamp(::run::Clock::system().utc()));
    let wanted = runs.iter().filter(|run| since.as_ref().is_none_or(|since| run.started.as_str() >= since.as_str()));
    wanted.map(|run| run_cost(&store, run).map_err(UserError::from)).collect()
}

fn run_cost(store: &Store, run: &StoredRun) -> Result<RunCost, StoreError> {
    let spent = store.spending(run.run)?.into_iter().map(|one| SpendEntry {
        case: one.case,
        subject: one.subject,
        role: one.role,
        calls: one.calls,
        money: Money::from_nanos(one.nanos),
    });
    let hits = store.telemetry(run.run)?.into_iter().find(|(what, _)| what == "cache_hits").map_or(0, |(_, n)| n);
    let answered = store.count_world_answers(run.run)?;
    Ok(RunCost { tier: run.claim.tier, trials: run.finished, spent: spent.collect(), cache_hits: hits, answered })
}

fn tier_budget(workspace: &Workspace, tier: Option<u64>) -> Option<f64> {
    workspace.tiers.tiers.iter().find(|one| Some(one.tier) == tier).map(|one| one.budget_usd)
}

fn document(workspace: &Workspace, bill: &CostReport, runs: usize) -> Value {
    let sums = |sums: &BTreeMap<String, CallTotals>| -> Vec<Value> {
        sums.iter().map(|(name, sum)| json!({ "name": name, "calls": sum.calls, "spent_usd": sum.money.as_usd() })).collect()
    };
    let tiers: Vec<Value> = bill
        .tiers
        .iter()
        .map(|(tier, cost)| {
            json!({ "tier": tier, "runs": cost.runs, "calls": cost.sum.calls, "spent_usd": cost.sum.money.as_usd(),
                "dearest_usd": cost.max_run_cost.as_usd(), "budget_usd": tier_budget(workspace, *tier) })
        })
        .collect();
    let saved = &bill.saved;
    json!({ "format": FORMAT, "command": "cost", "runs": runs, "calls": bill.all.calls, "spent_usd": bill.all.money.as_usd(),
        "tiers": tiers, "models": sums(&bill.models), "suites": sums(&bill.suites),
        "saved": { "cache_hits": saved.cache_hits, "cache_usd": saved.cache.as_usd(), "answers": saved.answers,
            "callbacks_usd": saved.callbacks.as_usd(), "events": saved.events, "tiering_usd": saved.tiering.as_usd() }, "exit": 0 })
}

fn text(workspace: &Workspace, bill: &CostReport, runs: usize) -> String {
    let tiers = bill
        .tiers
        .iter()
        .map(|(tier, cost)| {
            let name = tier.map_or_else(|| "no tier".to_owned(), |tier| format!("tier {tier}"));
            let budget = tier_budget(workspace, *tier).map_or_else(String::new, |usd| format!("{usd:.2}"));
            vec![name, cost.runs.to_string(), cost.sum.calls.to_string(), cost.sum.money.to_string(), cost.max_run_cost.to_string(), budget]
        })
        .collect();
    let mut text = format!("{}\n\n", table(&["tier", "runs", "calls", "spent USD", "most expensive run", "budget"], tiers));
    for (title, sums) in [("model", &bill.models), ("suite", &bill.suites)] {
        if !sums.is_empty() {
            let rows = sums.iter().map(|(name, sum)| vec![name.clone(), sum.calls.to_string(), sum.money.to_string()]).collect();
            text.push_str(&format!("{}\n\n", table(&[title, "calls", "spent USD"], rows)));
        }
    }
    let saved = &bill.saved;
    let rows = vec![
        vec!["cache".to_owned(), model::count_of(saved.cache_hits, "reply reused", "replies reused"), saved.cache.to_string()],
        vec!["callbacks".to_owned(), format!("{} by the world", model::count(saved.answers, "tool answer")), saved.callbacks.to_string()],
        vec!["tiering".to_owned(), format!("tier 4 instead of {}", model::count(saved.events, "smaller run")), saved.tiering.to_string()],
    ];
    text.push_str(&format!("{}\n\n", table(&["saved by", "what", "USD"], rows)));
    text.push_str(&format!("{} USD spent on {} in {}\n", bill.all.money, model::count(bill.all.calls, "call"), model::count(runs, "run")));
    text
}
