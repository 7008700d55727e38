//! Production traffic: gates over their windows, drift with its alarms, cost and latency.

use super::charts::{CourseMark, course_chart, gate_range, verdict_badge};
use super::frame::{PageAssets, frame};
use super::shown;
use maud::{Markup, html};
use model::{GateWindow, Verdict};
use present::judgement_text::{bound, observations};
use score::drift::DriftAlarm;
use score::production::WindowVerdict;

/// Alarms and rows of a table on the page.
const MAX_ALARMS: usize = 50;
const MAX_ROWS: usize = 25;
const MAX_FAILING: usize = 20;

/// Course of one quantity over the window, in equal parts of time.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalCourse {
    pub name: String,
    /// Absent where no trace measured it.
    pub values: Vec<Option<f64>>,
    /// The values are shares of 1.
    pub is_rate: bool,
}

/// Cost of one model, agent, skill or day, or latency of one model, agent or tool.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageEntry {
    pub name: String,
    pub cells: Vec<String>,
}

/// Table of costs or latencies.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageSection {
    pub title: String,
    pub head: Vec<&'static str>,
    pub rows: Vec<UsageEntry>,
}

/// Traffic of a window.
#[derive(Debug)]
pub struct ProductionSummary {
    pub window: GateWindow,
    /// Verdict of `watch --once` on the window.
    pub verdict: Verdict,
    /// Sentences that a reader must know to read the figures, as `watch` prints them: contradictions and missing evidence too.
    pub notes: Vec<String>,
    /// Seconds since 1970: begin and end of the window.
    pub from_s: u64,
    pub now_s: u64,
    pub now: String,
    pub kept: u64,
    pub sampled: u64,
    pub estimated: f64,
    pub verdicts: Vec<WindowVerdict>,
    /// Alarms of the window with their time, the newest first.
    pub alarms: Vec<(String, DriftAlarm)>,
    pub courses: Vec<SignalCourse>,
    pub total_usd: f64,
    pub usd_per_completed: Option<f64>,
    /// Budget, spending and forecast of the day in US dollars.
    pub budget: Option<[f64; 3]>,
    pub unknown_prices: Vec<String>,
    pub sections: Vec<UsageSection>,
    /// Ids of traces with a miss, the newest first.
    pub failing: Vec<String>,
}

/// Returns the page; `Err` says why there is nothing to show.
pub fn production_page(summary: Result<&ProductionSummary, &str>) -> String {
    let body = match summary {
        Err(why) => html! { h1 { "Production" } p { (shown(why)) } },
        Ok(summary) => html! {
            h1 { "Production" }
            (windows(summary))
            (outcome(summary))
            (gates(&summary.verdicts))
            (drift(summary))
            (cost(summary))
            (failing(&summary.failing))
        },
    };
    frame(PageAssets::Linked, "Production", &body)
}

fn windows(summary: &ProductionSummary) -> Markup {
    html! {
        p {
            "Window: "
            @for (word, window) in GateWindow::ALL {
                @if *window == summary.window { b { (word) } } @else { a href={ "/production?window=" (word) } { (word) } } " "
            }
            "until " (summary.now)
        }
        p { (summary.kept) " traces kept, " (summary.sampled) " of them in the uniform sample; about " (format!("{:.0}", summary.estimated)) " in all" }
    }
}

/// Shows the verdict on the window, with everything that takes a pass away although all gates are met.
fn outcome(summary: &ProductionSummary) -> Markup {
    let exit = match summary.verdict {
        Verdict::Missed => 1,
        Verdict::NoEvidence => 3,
        Verdict::Met => 0,
    };
    html! {
        p { "Verdict: " (verdict_badge(summary.verdict)) " " code { "bardo-eval watch --once" } " exits with " (exit) }
        ul { @for note in &summary.notes { li { (shown(note)) } } }
    }
}

fn gates(verdicts: &[WindowVerdict]) -> Markup {
    html! {
        h2 { "Gates" }
        @if verdicts.is_empty() { p { "No gate has a window; add " code { "window: 24h" } " to gates in gates.yaml." } } @else {
            div.wide tabindex="0" { table {
                thead { tr {
                    th scope="col" { "gate" } th scope="col" { "slice" } th scope="col" { "window" } th scope="col" { "verdict" } th scope="col" { "value, interval, bound" }
                    th.num scope="col" { "value" } th scope="col" { "bound" } th.num scope="col" { "traces" }
                } }
                tbody { @for verdict in sorted(verdicts) {
                    @let result = &verdict.result;
                    tr {
                        th scope="row" { (shown(&result.gate)) @if !result.because.is_empty() { div.soft { (shown(&result.because)) } } }
                        td { (shown(&result.metric.slice)) }
                        td { (verdict.window.word()) }
                        td { (verdict_badge(result.verdict)) }
                        td { (gate_range(result)) }
                        td.num { (result.metric.value.map_or("–".to_owned(), |value| format!("{value:.3}"))) }
                        td.tight { (bound(result.bound)) }
                        td.num { (observations(result)) }
                    }
                } }
            } }
        }
    }
}

/// Returns the verdicts, missed ones first.
fn sorted(verdicts: &[WindowVerdict]) -> Vec<&WindowVerdict> {
    let mut sorted: Vec<&WindowVerdict> = verdicts.iter().collect();
    sorted.sort_by_key(|verdict| match verdict.result.verdict {
        Verdict::Missed => 0,
        Verdict::NoEvidence => 1,
        Verdict::Met => 2,
    });
    sorted
}

fn drift(summary: &ProductionSummary) -> Markup {
    let span = summary.now_s.saturating_sub(summary.from_s).max(1) as f64;
    let place = |at: u64| (at.saturating_sub(summary.from_s) as f64 / span).clamp(0.0, 1.0);
    let marks = |name: &str| -> Vec<CourseMark> {
        let own = summary.alarms.iter().filter(|(_, alarm)| alarm.signal.name() == name);
        own.map(|(_, alarm)| CourseMark { since: place(alarm.since), found: place(alarm.found) }).collect()
    };
    html! {
        h2 { "Drift" }
        @if summary.courses.is_empty() { p { "No trace of the uniform sample is in the window." } }
        div.charts { @for course in &summary.courses {
            figure { figcaption { (shown(&course.name)) } (course_chart(&shown(&course.name), &course.values, course.is_rate, &marks(&course.name))) }
        } }
        @if summary.courses.iter().any(|course| !marks(&course.name).is_empty()) { p.soft { "Dashed lines: since when a change is suspected. Full lines: the trace at which it was found." } }
        @if summary.alarms.is_empty() { p { "No change was found in the window." } } @else {
            div.wide tabindex="0" { table {
                thead { tr {
                    th scope="col" { "signal" } th scope="col" { "since" } th scope="col" { "before" } th scope="col" { "after" } th.num scope="col" { "traces" }
                    th scope="col" { "slices" } th scope="col" { "examples" }
                } }
                tbody { @for (since, alarm) in summary.alarms.iter().take(MAX_ALARMS) {
                    tr {
                        th scope="row" { span.badge.bad { "! " (shown(&alarm.signal.name())) } }
                        td { (since) }
                        td { (shown(&alarm.before)) } td { (shown(&alarm.after)) }
                        td.num { (alarm.samples) }
                        td { (shown(&alarm.slices.iter().map(|slice| slice.slice.clone()).collect::<Vec<_>>().join(", "))) }
                        td { @for trace in &alarm.examples { code { (shown(trace)) } " " } }
                    }
                } }
            } }
        }
    }
}

fn cost(summary: &ProductionSummary) -> Markup {
    html! {
        h2 { "Cost and latency" }
        p {
            (format!("{:.4} USD", summary.total_usd)) " of model calls in the window"
            @if let Some(usd) = summary.usd_per_completed { ", " (format!("{usd:.4} USD")) " per completed task" }
        }
        @if let Some([budget, spent, forecast]) = summary.budget {
            p { (format!("{spent:.2} of {budget:.2} USD of the day are spent, {forecast:.2} USD forecast ")) @if forecast > budget { span.badge.bad { "! over budget" } } }
        }
        @if !summary.unknown_prices.is_empty() { p.soft { "No price is known for " (shown(&summary.unknown_prices.join(", "))) "; their calls are not in the sums." } }
        @for section in summary.sections.iter().filter(|section| !section.rows.is_empty()) { (usage_table(section)) }
    }
}

fn usage_table(section: &UsageSection) -> Markup {
    html! {
        h3 { (section.title) }
        div.wide tabindex="0" { table {
            thead { tr { @for (n, head) in section.head.iter().enumerate() { th.num[n > 0] scope="col" { (head) } } } }
            tbody { @for row in section.rows.iter().take(MAX_ROWS) { tr { th scope="row" { (shown(&row.name)) } @for cell in &row.cells { td.num { (shown(cell)) } } } } }
        } }
        @if section.rows.len() > MAX_ROWS { p.soft { (section.rows.len() - MAX_ROWS) " further rows; " code { "bardo-eval watch --once --format json" } " prints all" } }
    }
}

fn failing(failing: &[String]) -> Markup {
    html! {
        @if !failing.is_empty() {
            h2 { "Traces with a miss" }
            p { (failing.len()) " in the window. " code { "bardo-eval case new --trace ID" } " makes a case of one." }
            ul { @for trace in failing.iter().take(MAX_FAILING) { li { code { (shown(trace)) } } } }
        }
    }
}
