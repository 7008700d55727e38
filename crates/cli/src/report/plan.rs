//! A plan before anything is run: every trial, what it may cost, and which gates the budget can decide.

use super::escape::visible;
use super::{FORMAT, table};
use crate::args::Format;
use crate::io::Io;
use campaign::{Estimate, Quote, Reach, Request, estimate};
use model::Money;
use serde_json::{Value, json};

/// What is known of a run that has not begun.
#[derive(Debug)]
pub(crate) struct Planned<'p> {
    pub request: &'p Request,
    /// For each case, for each subject.
    pub quotes: Vec<Quote>,
    pub budget: Option<Money>,
    pub reach: Vec<Reach>,
    /// Who would be asked about rubrics, and whether that was said or is only what the tier allows.
    pub judge: Option<String>,
    pub judge_named: bool,
}

impl Planned<'_> {
    fn quote(&self, n: u64) -> Quote {
        let outline = &self.request.outline;
        let (case, subject) = outline.seat(n);
        self.quotes.get(case * outline.subjects.len() + subject).copied().unwrap_or_default()
    }

    /// No trial can cost more than the whole run may.
    fn ceiling(&self, n: u64) -> Money {
        let ceiling = self.quote(n).ceiling;
        self.budget.map_or(ceiling, |budget| ceiling.min(budget))
    }

    fn estimate(&self) -> Estimate {
        estimate(&self.quotes, self.request.outline.trials)
    }

    /// Whatever the trials could cost, the budget holds.
    fn most(&self) -> Money {
        let total: Money = (0..self.request.outline.len()).map(|n| self.ceiling(n)).sum();
        self.budget.map_or(total, |budget| total.min(budget))
    }
}

pub(crate) fn plan(io: &Io, planned: &Planned<'_>) -> String {
    match io.format {
        Format::Json => format!("{:#}\n", document(planned)),
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => text(planned),
    }
}

fn document(planned: &Planned<'_>) -> Value {
    let outline = &planned.request.outline;
    let trials: Vec<Value> = (0..outline.len())
        .map(|n| {
            let trial = outline.trial(n);
            let (ceiling, likely) = (planned.ceiling(n).as_usd(), planned.quote(n).likely.as_usd());
            json!({ "id": trial.id, "case": trial.case, "subject": trial.subject, "seed": trial.seed, "ceiling_usd": ceiling, "likely_usd": likely })
        })
        .collect();
    let gates: Vec<Value> = planned
        .reach
        .iter()
        .map(|reach| {
            json!({ "gate": reach.gate, "slice": reach.slice, "planned": reach.planned, "funded": reach.funded, "needed": reach.needed, "decided": reach.is_decided() })
        })
        .collect();
    let Estimate { calls, judged, seconds, likely } = planned.estimate();
    json!({
        "format": FORMAT, "command": "run --dry-run", "workspace": planned.request.workspace.hash, "trials": trials, "gates": gates,
        "estimate": { "likely_usd": likely.map(Money::as_usd), "ceiling_usd": planned.most().as_usd(), "budget_usd": planned.budget.map(Money::as_usd),
            "calls": calls, "judge_calls": judged, "judge": planned.judge, "seconds": seconds },
        "exit": 0,
    })
}

fn text(planned: &Planned<'_>) -> String {
    let outline = &planned.request.outline;
    let rows: Vec<Vec<String>> = (0..outline.len())
        .map(|n| {
            let trial = outline.trial(n);
            let money = [planned.quote(n).likely, planned.ceiling(n)].map(|money| money.to_string());
            [vec![trial.id.short().to_owned(), trial.case, trial.subject, trial.seed.to_string()], money.to_vec()].concat()
        })
        .collect();
    let mut text = format!("{}\n", table(&["trial", "case", "subject", "seed", "likely USD", "at most USD"], rows));
    let open: Vec<&Reach> = planned.reach.iter().filter(|reach| !reach.is_decided()).collect();
    text.push_str(&format!("gates that can be decided: {} of {}\n", planned.reach.len() - open.len(), planned.reach.len()));
    for reach in open {
        let Reach { gate, slice, planned, funded, needed } = reach;
        text.push_str(&format!(
            "  not {gate} ({}): {funded} of {planned} planned cases are likely funded, {needed} are needed\n",
            visible(slice)
        ));
    }
    text.push_str(&told(planned));
    text.push_str(&format!("{} trials planned, nothing was run\n", outline.len()));
    text
}

/// The one estimate, against what the run may take and cost.
fn told(planned: &Planned<'_>) -> String {
    let Estimate { calls, judged, seconds, likely } = planned.estimate();
    let tier = planned.request.workspace.tiers.tiers.iter().find(|tier| Some(tier.tier) == planned.request.claim.tier);
    let allowed = tier.and_then(|tier| tier.minutes_at_most).map_or_else(String::new, |most| format!(" of {most} allowed"));
    let only = if planned.judge_named { "" } else { ", only with --judge" };
    let judge = match &planned.judge {
        Some(judge) if judged > 0 => format!(", {judged} of them the judge {}{only}", visible(judge)),
        Some(_) | None => String::new(),
    };
    let minutes = seconds as f64 / 60.0;
    let cost = match (likely, planned.budget) {
        (Some(likely), Some(budget)) if likely > budget => {
            format!("likely {likely} USD, but the budget ends at {budget} USD: what is left then is not funded")
        }
        (Some(likely), Some(budget)) => format!("likely {likely} USD of a budget of {budget} USD"),
        (Some(likely), None) => format!("likely {likely} USD, at most {} USD, no budget", planned.most()),
        (None, Some(budget)) => format!("nobody knows the price, at most the budget of {budget} USD"),
        (None, None) => "nobody knows the price, no budget".to_owned(),
    };
    format!("models asked about {calls} times{judge}: {minutes:.1} minutes{allowed} at 8 calls of 3 s at once\ncost: {cost}\n")
}
