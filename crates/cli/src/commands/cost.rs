//! What the kept runs cost, and what was saved.

use crate::args::{CostArgs, Format};
use crate::exit::Exit;
use crate::io::Io;
use crate::kept;
use crate::open::Source;
use crate::report::{self, FORMAT, count, table};
use campaign::{Bill, RunCost, Spent, Sum, bill};
use model::{Money, UserError, Workspace};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::{Run, Store, StoreError};

pub(crate) fn cost(io: &Io, source: &Source, args: &CostArgs) -> Exit {
    let workspace = match super::open(io, source, "cost") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let runs = match read(args) {
        Ok(runs) => runs,
        Err(why) => return report::refused(io, "cost", &[why]),
    };
    let bill = bill(&workspace, &runs);
    let text = match io.format {
        Format::Json => format!("{:#}\n", document(&workspace, &bill, runs.len())),
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => text(&workspace, &bill, runs.len()),
    };
    io.result(&text, Exit::Clean)
}

fn read(args: &CostArgs) -> Result<Vec<RunCost>, UserError> {
    let (store, _) = kept::find(&args.store.store, None)?;
    let runs = kept::all(&args.store.store)?;
    let wanted = runs.iter().filter(|run| args.since.as_ref().is_none_or(|since| run.started.as_str() >= since.as_str()));
    wanted.map(|run| of_run(&store, run).map_err(UserError::from)).collect()
}

fn of_run(store: &Store, run: &Run) -> Result<RunCost, StoreError> {
    let spent = store.spending(run.run)?.into_iter().map(|one| Spent {
        case: one.case,
        subject: one.subject,
        role: one.role,
        calls: one.calls,
        money: Money::nanos(one.nanos),
    });
    let hits = store.telemetry(run.run)?.into_iter().find(|(what, _)| what == "cache_hits").map_or(0, |(_, n)| n);
    let answered = store.answered_by_world(run.run)?;
    Ok(RunCost { tier: run.claim.tier, trials: run.finished, spent: spent.collect(), cache_hits: hits, answered })
}

fn budget(workspace: &Workspace, tier: Option<u64>) -> Option<f64> {
    workspace.tiers.tiers.iter().find(|one| Some(one.tier) == tier).map(|one| one.budget_usd)
}

fn document(workspace: &Workspace, bill: &Bill, runs: usize) -> Value {
    let sums = |sums: &BTreeMap<String, Sum>| -> Vec<Value> {
        sums.iter().map(|(name, sum)| json!({ "name": name, "calls": sum.calls, "spent_usd": sum.money.as_usd() })).collect()
    };
    let tiers: Vec<Value> = bill
        .tiers
        .iter()
        .map(|(tier, cost)| {
            json!({ "tier": tier, "runs": cost.runs, "calls": cost.sum.calls, "spent_usd": cost.sum.money.as_usd(),
                "dearest_usd": cost.dearest.as_usd(), "budget_usd": budget(workspace, *tier) })
        })
        .collect();
    let saved = &bill.saved;
    json!({ "format": FORMAT, "command": "cost", "runs": runs, "calls": bill.all.calls, "spent_usd": bill.all.money.as_usd(),
        "tiers": tiers, "models": sums(&bill.models), "suites": sums(&bill.suites),
        "saved": { "cache_hits": saved.cache_hits, "cache_usd": saved.cache.as_usd(), "answers": saved.answers,
            "callbacks_usd": saved.callbacks.as_usd(), "events": saved.events, "tiering_usd": saved.tiering.as_usd() }, "exit": 0 })
}

fn text(workspace: &Workspace, bill: &Bill, runs: usize) -> String {
    let tiers = bill
        .tiers
        .iter()
        .map(|(tier, cost)| {
            let name = tier.map_or_else(|| "chosen by hand".to_owned(), |tier| format!("tier {tier}"));
            let budget = budget(workspace, *tier).map_or_else(String::new, |usd| format!("{usd:.2}"));
            vec![name, cost.runs.to_string(), cost.sum.calls.to_string(), cost.sum.money.to_string(), cost.dearest.to_string(), budget]
        })
        .collect();
    let mut text = format!("{}\n\n", table(&["tier", "runs", "calls", "spent USD", "dearest run", "budget"], tiers));
    for (title, sums) in [("model", &bill.models), ("suite", &bill.suites)] {
        if !sums.is_empty() {
            let rows = sums.iter().map(|(name, sum)| vec![name.clone(), sum.calls.to_string(), sum.money.to_string()]).collect();
            text.push_str(&format!("{}\n\n", table(&[title, "calls", "spent USD"], rows)));
        }
    }
    let saved = &bill.saved;
    let rows = vec![
        vec!["cache".to_owned(), format!("{} answered from it", saved.cache_hits), saved.cache.to_string()],
        vec!["callbacks".to_owned(), format!("{} given by the world", saved.answers), saved.callbacks.to_string()],
        vec![
            "tiering".to_owned(),
            format!("tier 4 instead of {}", count(usize::try_from(saved.events).unwrap_or(0), "smaller run")),
            saved.tiering.to_string(),
        ],
    ];
    text.push_str(&format!("{}\n\n", table(&["saved by", "what", "USD"], rows)));
    text.push_str(&format!(
        "{} USD spent on {} in {}\n",
        bill.all.money,
        count(usize::try_from(bill.all.calls).unwrap_or(0), "call"),
        count(runs, "run")
    ));
    text
}
