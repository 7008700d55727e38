//! A plan before anything is run: every trial, what it may cost, and which gates the budget can decide.

use super::problems::visible;
use super::{FORMAT, table};
use crate::args::Format;
use crate::io::Io;
use campaign::{Estimate, Quote, Reach, Request, estimate};
use model::{Money, SubjectFile};
use serde_json::{Value, json};

/// What is known of a run that has not begun.
#[derive(Debug)]
pub(crate) struct Planned<'p> {
    pub request: &'p Request,
    /// For each case, for each subject.
    pub quotes: Vec<Quote>,
    pub budget: Option<Money>,
    pub reach: Vec<Reach>,
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

    fn total(&self, of: impl Fn(u64) -> Money) -> Money {
        (0..self.request.outline.len()).map(of).sum()
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
    let likely = planned.total(|n| planned.quote(n).likely);
    let ceiling = planned.total(|n| planned.ceiling(n));
    let expected = expected(planned.request);
    json!({
        "format": FORMAT, "command": "run --dry-run", "workspace": planned.request.workspace.hash, "trials": trials, "gates": gates,
        "estimate": { "likely_usd": likely.as_usd(), "ceiling_usd": ceiling.as_usd(), "budget_usd": planned.budget.map(Money::as_usd) },
        "calls": expected.calls, "seconds": expected.seconds, "likely_usd": expected.likely.map(Money::as_usd), "exit": 0,
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
    let budget = planned.budget.map_or("no budget".to_owned(), |budget| format!("budget {budget} USD"));
    let likely = planned.total(|n| planned.quote(n).likely);
    text.push_str(&format!("cost: likely {likely} USD, at most {} USD, {budget}\n", planned.total(|n| planned.ceiling(n))));
    text.push_str(&format!("{}\n", told(planned.request, expected(planned.request))));
    text.push_str(&format!("{} trials planned, nothing was run\n", outline.len()));
    text
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
