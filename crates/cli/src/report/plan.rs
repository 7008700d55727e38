//! Plan of `run --dry-run`: trials, their cost, and the gates that the budget can decide.

use super::escape::escape_control;
use super::{FORMAT, table};
use crate::args::ReportFormat;
use crate::io::CliOutput;
use campaign::{CostEstimate, CostForecast, ForecastJudge, GateReach, RunPlan};
use model::Money;
use serde_json::{Value, json};

pub(crate) fn plan(io: &CliOutput, plan: &RunPlan, forecast: &CostForecast) -> String {
    match io.format {
        ReportFormat::Json => format!("{:#}\n", document(plan, forecast)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            text(plan, forecast)
        }
    }
}

fn document(plan: &RunPlan, forecast: &CostForecast) -> Value {
    let outline = plan.outline();
    let trials: Vec<Value> = (0..outline.len())
        .map(|n| {
            let trial = outline.trial(n);
            let (ceiling, likely) = (forecast.ceiling(n).as_usd(), forecast.quote(n).likely.as_usd());
            json!({ "id": trial.id, "case": trial.case, "subject": trial.subject, "seed": trial.seed, "ceiling_usd": ceiling, "likely_usd": likely })
        })
        .collect();
    let gates: Vec<Value> = forecast
        .reach
        .iter()
        .map(|reach| {
            json!({ "gate": reach.gate, "slice": reach.slice, "planned": reach.planned, "funded": reach.funded, "needed": reach.needed, "decided": reach.is_decided() })
        })
        .collect();
    let CostEstimate { calls, judge_calls: judged, seconds, likely } = forecast.estimate();
    json!({
        "format": FORMAT, "command": "run --dry-run", "workspace": plan.workspace().hash, "trials": trials, "gates": gates,
        "estimate": { "likely_usd": likely.map(Money::as_usd), "ceiling_usd": forecast.max_cost().as_usd(), "budget_usd": forecast.budget.map(Money::as_usd),
            "calls": calls, "judge_calls": judged, "judge": forecast.judge.as_ref().map(|judge| &judge.name), "seconds": seconds },
        "exit": 0,
    })
}

fn text(plan: &RunPlan, forecast: &CostForecast) -> String {
    let outline = plan.outline();
    let rows: Vec<Vec<String>> = (0..outline.len())
        .map(|n| {
            let trial = outline.trial(n);
            let money = [forecast.quote(n).likely, forecast.ceiling(n)].map(|money| money.to_string());
            [vec![trial.id.short().to_owned(), trial.case, trial.subject, trial.seed.to_string()], money.to_vec()].concat()
        })
        .collect();
    let mut text = format!("{}\n", table(&["trial", "case", "subject", "seed", "likely USD", "at most USD"], rows));
    let open: Vec<&GateReach> = forecast.reach.iter().filter(|reach| !reach.is_decided()).collect();
    text.push_str(&format!("gates that can be decided: {} of {}\n", forecast.reach.len() - open.len(), forecast.reach.len()));
    for reach in open {
        let GateReach { gate, slice, planned, funded, needed } = reach;
        text.push_str(&format!(
            "  cannot decide {gate} ({}): budget for {funded} of {planned} planned cases, {needed} needed\n",
            escape_control(slice)
        ));
    }
    text.push_str(&estimate_text(plan, forecast));
    text.push_str(&format!("{} planned, nothing was run\n", model::count(outline.len(), "trial")));
    text
}

/// Returns the estimate of calls, time and cost against the limits of tier and budget.
fn estimate_text(plan: &RunPlan, forecast: &CostForecast) -> String {
    let CostEstimate { calls, judge_calls: judged, seconds, likely } = forecast.estimate();
    let tier = plan.workspace().tiers.tiers.iter().find(|tier| Some(tier.tier) == plan.spec().settings.claim.tier);
    let allowed = tier.and_then(|tier| tier.minutes_at_most).map_or_else(String::new, |most| format!(" of {most} allowed"));
    let judge = match &forecast.judge {
        Some(ForecastJudge { name, is_named }) if judged > 0 => {
            let only = if *is_named { "" } else { ", only with --judge" };
            format!(", {judged} of them to the judge {}{only}", escape_control(name))
        }
        Some(_) | None => String::new(),
    };
    let minutes = seconds as f64 / 60.0;
    let cost = match (likely, forecast.budget) {
        (Some(likely), Some(budget)) if likely > budget => {
            format!("likely {likely} USD, more than the budget of {budget} USD; trials beyond it are not funded")
        }
        (Some(likely), Some(budget)) => format!("likely {likely} USD of a budget of {budget} USD"),
        (Some(likely), None) => format!("likely {likely} USD, at most {} USD, no budget", forecast.max_cost()),
        (None, Some(budget)) => format!("price unknown, at most the budget of {budget} USD"),
        (None, None) => "price unknown, no budget".to_owned(),
    };
    let calls = model::count(calls, "model call");
    format!("about {calls}{judge}: {minutes:.1} minutes{allowed}, at 8 calls of 3 s at once\ncost: {cost}\n")
}
