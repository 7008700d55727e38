//! Plan of `run --dry-run`: trials, their cost, and the gates that the budget can decide.

use super::escape::escape_control;
use super::{FORMAT, judge_hint, table};
use crate::args::ReportFormat;
use crate::io::CliOutput;
use campaign::{CostEstimate, CostForecast, GateReach, MissingRecordings, ReachState, RunPlan};
use model::Money;
use serde_json::{Value, json};

pub(crate) fn plan(io: &CliOutput, plan: &RunPlan, forecast: &CostForecast, missing: Option<&MissingRecordings>) -> String {
    match io.format {
        ReportFormat::Json => format!("{:#}\n", document(plan, forecast, missing)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            text(io, plan, forecast, missing)
        }
    }
}

fn document(plan: &RunPlan, forecast: &CostForecast, missing: Option<&MissingRecordings>) -> Value {
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
            json!({ "gate": reach.gate, "slice": reach.slice, "planned": reach.planned, "funded": reach.funded, "needed": reach.needed,
                "rubrics": reach.rubrics, "only_judge": reach.is_only_judged(), "state": reach.state.word(), "decided": reach.is_decided() })
        })
        .collect();
    let CostEstimate { calls, judge_calls: judged, seconds, likely } = forecast.estimate();
    json!({
        "format": FORMAT, "command": "run --dry-run", "workspace": plan.workspace().hash, "trials": trials, "gates": gates,
        "estimate": { "likely_usd": likely.map(Money::as_usd), "ceiling_usd": forecast.max_cost().as_usd(), "budget_usd": forecast.budget.map(Money::as_usd),
            "calls": calls, "judge_calls": judged, "judge": forecast.judge, "seconds": seconds },
        "needs_recording": missing.map(|missing| json!({ "subjects": missing.subjects, "trials": missing.trials, "calls": missing.estimate.calls,
            "likely_usd": missing.estimate.likely.map(Money::as_usd) })),
        "left_out": plan.left_out(),
        "exit": 0,
    })
}

fn text(io: &CliOutput, plan: &RunPlan, forecast: &CostForecast, missing: Option<&MissingRecordings>) -> String {
    let outline = plan.outline();
    let subjects: Vec<&str> = outline.subjects.iter().map(|planned| planned.subject.as_str()).collect();
    let trials = model::count(outline.len(), "trial");
    let mut text =
        format!("{trials} of {} planned for {}, nothing was run\n", model::count(outline.cases.len(), "case"), subjects.join(", "));
    text.push_str(&estimate_text(plan, forecast));
    let open: Vec<&GateReach> = forecast.reach.iter().filter(|reach| !reach.is_decided()).collect();
    text.push_str(&missing.map_or_else(String::new, missing_text));
    let once = if missing.is_some() { " once all is recorded" } else { "" };
    text.push_str(&format!("verdicts that can be decided{once}: {} of {}\n", forecast.reach.len() - open.len(), forecast.reach.len()));
    text.push_str(&open_gates(io, &open));
    text.push_str(&only_judged_text(plan, forecast));
    if plan.left_out() > 0 {
        let cases = model::count(plan.left_out(), "case");
        text.push_str(&format!("left out: {cases} that decide least, beyond the budget of the tier\n"));
    }
    text.push_str(&if io.verbose { trial_table(plan, forecast) } else { io.paint.dim("trials with their cost: --verbose\n") });
    text
}

/// Returns one line per gate that cannot be decided; with `--verbose` one per slice.
fn open_gates(io: &CliOutput, open: &[&GateReach]) -> String {
    let undecided: Vec<&&GateReach> = open.iter().filter(|reach| reach.state != ReachState::NeedsJudge).collect();
    let mut text = String::new();
    for (n, reach) in undecided.iter().enumerate() {
        let is_first = undecided[..n].iter().all(|earlier| earlier.gate != reach.gate);
        if !is_first && !io.verbose {
            continue;
        }
        let GateReach { gate, slice, planned, funded, needed, .. } = **reach;
        let why = match reach.state {
            ReachState::NotMeasured => "not measured by this version".to_owned(),
            ReachState::TooFewCases | ReachState::NeedsJudge | ReachState::Decided if funded == planned => {
                format!("{} planned, {needed} needed", model::count(*planned, "case"))
            }
            ReachState::TooFewCases | ReachState::NeedsJudge | ReachState::Decided => {
                format!("budget for {funded} of {}, {needed} needed", model::count(*planned, "planned case"))
            }
        };
        let more = undecided[n + 1..].iter().filter(|later| later.gate == *gate).count();
        let more = if more == 0 || io.verbose { String::new() } else { format!(" and {}", model::count(more, "more slice")) };
        text.push_str(&format!("  cannot decide {gate} ({}{more}): {why}\n", escape_control(slice)));
    }
    text
}

/// Says that every trial would abort, and what recording costs.
fn missing_text(missing: &MissingRecordings) -> String {
    let (trials, calls) = (model::count(missing.trials, "trial"), model::count(missing.estimate.calls, "model call"));
    let likely = missing.estimate.likely.map_or("price unknown".to_owned(), |likely| format!("likely {:.2} USD", likely.as_usd()));
    let subjects = escape_control(&missing.subjects.join(", "));
    format!(
        "needs recording: all of {trials}, because no reply of {subjects} is recorded; --record-missing takes about {calls}, {likely}\n"
    )
}

fn trial_table(plan: &RunPlan, forecast: &CostForecast) -> String {
    let outline = plan.outline();
    let rows: Vec<Vec<String>> = (0..outline.len())
        .map(|n| {
            let trial = outline.trial(n);
            let money = [forecast.quote(n).likely, forecast.ceiling(n)].map(|money| money.to_string());
            [vec![trial.id.short().to_owned(), trial.case, trial.subject, trial.seed.to_string()], money.to_vec()].concat()
        })
        .collect();
    format!("{}\n", table(&["trial", "case", "subject", "seed", "likely USD", "at most USD"], rows))
}

/// Returns one line about the gates that only a judge can decide.
fn only_judged_text(plan: &RunPlan, forecast: &CostForecast) -> String {
    let slices: Vec<&GateReach> = forecast.reach.iter().filter(|reach| reach.is_only_judged()).collect();
    let mut gates: Vec<&str> = slices.iter().map(|reach| reach.gate.as_str()).collect();
    gates.dedup();
    if gates.is_empty() {
        return String::new();
    }
    let (count, gates) = (model::count(slices.len(), "slice"), gates.join(", "));
    match &forecast.judge {
        Some(judge) => format!("only a judge can decide {count} of {gates}: {}\n", escape_control(judge)),
        None => {
            let remedy = judge_hint::remedy(plan.workspace(), plan.spec().settings.claim.tier);
            format!("only a judge can decide {count} of {gates}, and this run has none: {remedy}\n")
        }
    }
}

/// Returns the estimate of calls, time and cost against the limits of tier and budget.
fn estimate_text(plan: &RunPlan, forecast: &CostForecast) -> String {
    let CostEstimate { calls, judge_calls: judged, seconds, likely } = forecast.estimate();
    let tier = plan.workspace().tiers.tiers.iter().find(|tier| Some(tier.tier) == plan.spec().settings.claim.tier);
    let allowed = tier.and_then(|tier| tier.minutes_at_most).map_or_else(String::new, |most| format!(" of {most} allowed"));
    let judge = match &forecast.judge {
        Some(name) if judged > 0 => format!(", {judged} of them to the judge {}", escape_control(name)),
        Some(_) | None => String::new(),
    };
    let minutes = seconds as f64 / 60.0;
    let reserved = forecast.reserved_at_once(plan.spec().options.concurrency);
    let reserved = format!("{:.2}", reserved.as_usd());
    let budget = forecast.budget;
    let is_beyond = likely.zip(budget).is_some_and(|(likely, budget)| likely > budget);
    let likely = likely.map(|likely| format!("{:.2}", likely.as_usd()));
    let cost = match (likely, budget) {
        (Some(likely), Some(budget)) if is_beyond && plan.left_out() == 0 => {
            format!("likely {likely} USD, more than the budget of {budget} USD; trials beyond it are not funded")
        }
        (Some(likely), Some(budget)) => format!("likely {likely} USD of a budget of {budget} USD"),
        (Some(likely), None) => format!("likely {likely} USD, no budget"),
        (None, Some(budget)) => format!("price unknown, at most the budget of {budget} USD"),
        (None, None) => "price unknown, no budget".to_owned(),
    };
    let calls = model::count(calls, "model call");
    let reserved = if reserved == "0.00" { String::new() } else { format!("; calls in flight reserve up to {reserved} USD at once") };
    format!("about {calls}{judge}: {minutes:.1} minutes{allowed}, at 8 calls of 3 s at once\ncost: {cost}{reserved}\n")
}
