//! List of runs, newest first, and the course of each gate over them.

use super::charts::sparkline;
use super::frame::{PageAssets, frame};
use super::{shown, time_between, usd};
use maud::{Markup, html};
use model::{GateVerdicts, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use store::RunListing;

/// Worst value of each gate in the runs of a page, oldest run first.
#[derive(Debug, Default)]
pub struct GateHistory {
    runs: usize,
    values: BTreeMap<String, Vec<Option<f64>>>,
}

impl GateHistory {
    /// Adds the verdicts of the next younger run.
    pub fn add(&mut self, verdicts: &GateVerdicts) {
        let mut worst: BTreeMap<&str, f64> = BTreeMap::new();
        for result in &verdicts.judgements {
            let Some(value) = result.metric.value else { continue };
            let kept = worst.entry(&result.gate).or_insert(value);
            if result.bound.excess(value) > result.bound.excess(*kept) {
                *kept = value;
            }
        }
        for (gate, value) in worst {
            let values = self.values.entry(gate.to_owned()).or_default();
            values.resize(self.runs, None);
            values.push(Some(value));
        }
        self.runs += 1;
        for values in self.values.values_mut() {
            values.resize(self.runs, None);
        }
    }
}

/// Run in the list, with the number of its verdicts.
#[derive(Debug)]
pub struct RunsPage<'r> {
    pub runs: &'r [(RunListing, GateVerdicts)],
    pub history: &'r GateHistory,
    pub has_more: bool,
}

pub fn runs_page(page: &RunsPage<'_>) -> String {
    let body = html! {
        h1 { "Runs" }
        @if page.runs.is_empty() {
            p { "No runs are stored. Start one with " code { "bardo-eval run" } "." }
        } @else {
            div.wide tabindex="0" { table {
                thead { tr {
                    th scope="col" { "run" } th scope="col" { "verdict" } th scope="col" { "subject" } th.num scope="col" { "passed" } th.num scope="col" { "trials" }
                    th.num scope="col" { "USD" } th.num scope="col" { "time" } th scope="col" { "started" } th scope="col" { "compare" }
                } }
                tbody { @for (at, (run, verdicts)) in page.runs.iter().enumerate() { (row(page, at, run, verdicts)) } }
            } }
            div.pager {
                @if let Some((last, _)) = page.runs.last().filter(|_| page.has_more) { a href={ "/runs?before=" (last.run) } rel="next" { "Older runs" } }
            }
            (history(page.history))
        }
    };
    frame(PageAssets::Linked, "Runs", &body)
}

fn row(page: &RunsPage<'_>, at: usize, run: &RunListing, verdicts: &GateVerdicts) -> Markup {
    let counts = &run.counts;
    let evidence = counts.finished.saturating_sub(counts.aborted);
    let rate = if evidence == 0 { "–".to_owned() } else { format!("{:.0} %", counts.passed as f64 / evidence as f64 * 100.0) };
    let taken = run.ended.as_deref().and_then(|ended| time_between(&run.started, ended));
    let before = page.runs.get(at + 1).map(|(before, _)| before.short_run_id());
    html! {
        tr data-href={ "/runs/" (run.short_run_id()) } {
            th scope="row" { a href={ "/runs/" (run.short_run_id()) } { code { (run.short_run_id()) } } }
            td { (verdict_badges(run, verdicts)) }
            td { (shown(&counts.subjects.join(", "))) }
            td.num { (rate) }
            td.num { (counts.finished) " of " (counts.planned) }
            td.num { (usd(counts.spent)) }
            td.num { (taken.unwrap_or_else(|| "–".to_owned())) }
            td.tight { (shown(&run.started)) }
            td { @if let Some(before) = before { a href={ "/compare?a=" (before) "&b=" (run.short_run_id()) } { "with the one before" } } }
        }
    }
}

fn verdict_badges(run: &RunListing, verdicts: &GateVerdicts) -> Markup {
    let gates = |verdict| {
        verdicts.judgements.iter().filter(|result| result.verdict == verdict).map(|result| &result.gate).collect::<BTreeSet<_>>().len()
    };
    html! {
        @if run.ended.is_none() { span.badge.unsure { "not complete" } " " }
        @if gates(Verdict::Missed) > 0 { span.badge.missed { (gates(Verdict::Missed)) " missed" } " " }
        @if gates(Verdict::NoEvidence) > 0 { span.badge.no_evidence { (gates(Verdict::NoEvidence)) " no evidence" } " " }
        @if !verdicts.judgements.is_empty() && gates(Verdict::Missed) + gates(Verdict::NoEvidence) == 0 { span.badge.met { "all met" } }
        @if verdicts.judgements.is_empty() { span.badge.unsure { "not judged" } }
    }
}

fn history(history: &GateHistory) -> Markup {
    html! {
        @if history.runs > 1 {
            h2 { "Gates over the last " (history.runs) " runs of this page" }
            p.soft { "Worst slice of each gate, oldest run on the left." }
            div.wide tabindex="0" { table {
                thead { tr { th scope="col" { "gate" } th scope="col" { "course" } th.num scope="col" { "last" } } }
                tbody { @for (gate, values) in &history.values {
                    tr {
                        th scope="row" { (shown(gate)) }
                        td { (sparkline(values)) }
                        td.num { (values.last().copied().flatten().map_or("–".to_owned(), |value| format!("{value:.3}"))) }
                    }
                } }
            } }
        }
    }
}
