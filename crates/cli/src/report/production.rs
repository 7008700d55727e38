//! Reports of `watch`.

use super::{FORMAT, escape_control};
use crate::exit::ExitKind;
use ::score::drift::DriftAlarm;
use campaign::{LatencyRow, ProductionReport, SpendRow, time_text};
use model::{GateBound, GateWindow, Verdict};
use serde_json::{Value, json};
use std::fmt::Write;
use store::production::ProductionCounter;

/// Everything that `watch` shows.
#[derive(Debug)]
pub(crate) struct WatchReport<'r> {
    pub report: &'r ProductionReport,
    /// Changes that were found in the window, newest first.
    pub alarms: Vec<&'r DriftAlarm>,
    pub window: GateWindow,
}

/// Traces with a miss that are listed.
const MAX_FAILING: usize = 10;
const SPEND_AXES: [&str; 4] = ["model", "agent", "skill", "day"];
const LATENCY_AXES: [&str; 3] = ["model", "agent", "tool"];

impl<'r> WatchReport<'r> {
    pub(crate) fn new(report: &'r ProductionReport, alarms: &'r [DriftAlarm], window: GateWindow) -> Self {
        let from = report.window.now_s.saturating_sub(report.window.length_s);
        let alarms = alarms.iter().rev().filter(|alarm| alarm.found > from).collect();
        Self { report, alarms, window }
    }

    /// Returns what a reader must know to read the figures.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Rates count each kept trace with the inverse of the probability with which it is kept, so that traces that are always kept do not bias them."
                .to_owned(),
        ];
        notes.extend(self.report.gaps.iter().map(|why| format!("Evidence is missing: {}.", escape_control(why))));
        notes.extend(self.effect_notes());
        if !self.report.usage.unknown_prices.is_empty() {
            let models: Vec<String> = self.report.usage.unknown_prices.iter().map(|model| escape_control(model)).collect();
            notes.push(format!("No price is known for {}; their calls are not in the sums.", models.join(", ")));
        }
        let counted = |counter| self.report.counters.iter().find(|(found, _)| *found == counter).map_or(0, |(_, n)| *n);
        let unreadable = usize::try_from(counted(ProductionCounter::TracesUnreadable)).unwrap_or(usize::MAX);
        if unreadable > 0 {
            notes.push(format!("{} since the file was created had no agent span and were skipped.", model::count(unreadable, "trace")));
        }
        if self.report.has_known_sample {
            notes.push(
                "Agents can choose ids of traces that are not sampled; set BARDO_EVAL_SAMPLING_KEY for collect and watch.".to_owned(),
            );
        }
        if self.report.verdicts.is_empty() {
            notes.push("No gate has a window, so nothing is judged; add window: 24h to gates in gates.yaml.".to_owned());
        }
        notes
    }
}

impl WatchReport<'_> {
    /// Returns what is known of effects, and what is not.
    fn effect_notes(&self) -> Vec<String> {
        let report = self.report;
        let traces = |n: u64| model::count(usize::try_from(n).unwrap_or(usize::MAX), "trace");
        let mut notes = vec![];
        if report.undecoded_transactions > 0 && report.undecoded_because.is_empty() && report.trusts_spans {
            let what = "no RPC is configured, so only their spans tell their effects";
            notes.push(format!("{} with transactions: {what}.", traces(report.undecoded_transactions)));
        } else if report.undecoded_transactions > 0 {
            let why = match report.undecoded_because.last() {
                Some(why) => format!("such as {}", escape_control(why)),
                None => "no RPC is configured".to_owned(),
            };
            notes.push(format!(
                "{} with transactions: {why}, so their effects are not decoded and scorers of effects are not exercised.",
                traces(report.undecoded_transactions)
            ));
        }
        for why in &report.contradictions {
            notes.push(format!("A chain contradicts its trace: {}.", escape_control(why)));
        }
        if report.ignored_claims > 0 {
            notes.push(format!(
                "{} with decisions, signatures or effects that only spans state; they do not count without trust_claims in production.yaml.",
                traces(report.ignored_claims)
            ));
        }
        notes
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::NoEvidence => "no evidence",
    }
}

fn bound_text(bound: GateBound) -> String {
    match bound {
        GateBound::AtLeast(bound) => format!("≥ {bound}"),
        GateBound::AtMost(bound) => format!("≤ {bound}"),
    }
}

/// Table for text or Markdown.
struct WatchTable {
    title: &'static str,
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

fn tables(shown: &WatchReport<'_>) -> Vec<WatchTable> {
    let report = shown.report;
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
    let gates = report.verdicts.iter().map(|verdict| {
        let result = &verdict.result;
        let interval = result.metric.low.zip(result.metric.high).map_or_else(String::new, |(low, high)| format!("{low:.3}–{high:.3}"));
        vec![
            result.gate.clone(),
            escape_control(&result.metric.slice),
            verdict.window.word().to_owned(),
            number(result.metric.value),
            interval,
            bound_text(result.bound),
            result.metric.cases.to_string(),
            if result.because.is_empty() {
                verdict_word(result.verdict).to_owned()
            } else {
                format!("{}: {}", verdict_word(result.verdict), result.because)
            },
        ]
    });
    let alarms = shown.alarms.iter().map(|alarm| {
        let slices: Vec<String> = alarm.slices.iter().map(|slice| escape_control(&slice.slice)).collect();
        vec![
            escape_control(&alarm.signal.name()),
            time_text(alarm.since),
            escape_control(&alarm.before),
            escape_control(&alarm.after),
            alarm.samples.to_string(),
            slices.join(", "),
            alarm.examples.join(" "),
        ]
    });
    let mut tables = vec![
        WatchTable {
            title: "Gates",
            head: vec!["gate", "slice", "window", "value", "95 %", "bound", "traces", "verdict"],
            rows: gates.collect(),
        },
        WatchTable {
            title: "Changes",
            head: vec!["signal", "since", "before", "after", "traces", "slices", "examples"],
            rows: alarms.collect(),
        },
    ];
    let spend = |row: SpendRow| {
        let unpriced = if row.unpriced_calls > 0.0 { format!(" + {:.0} calls without a price", row.unpriced_calls) } else { String::new() };
        let name = escape_control(&row.name);
        vec![name, format!("{:.0}", row.traces), format!("{:.0}", row.calls), format!("{:.4}{unpriced}", row.usd)]
    };
    for (axis, title) in SPEND_AXES.into_iter().zip(["Cost by model", "Cost by agent", "Cost by skill", "Cost by day"]) {
        let rows = report.usage.spend(axis).into_iter().map(spend).collect();
        tables.push(WatchTable { title, head: vec![axis, "traces", "calls", "USD"], rows });
    }
    let latency = |row: LatencyRow| {
        let ms = |value: f64| format!("{value:.0}");
        vec![escape_control(&row.name), ms(row.count), ms(row.p50), ms(row.p95), ms(row.p99)]
    };
    for (axis, title) in LATENCY_AXES.into_iter().zip(["Latency by model, ms", "Latency by agent, ms", "Latency by tool, ms"]) {
        let rows = report.usage.latency(axis).into_iter().map(latency).collect();
        tables.push(WatchTable { title, head: vec![axis, "count", "p50", "p95", "p99"], rows });
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn heading(shown: &WatchReport<'_>) -> String {
    let report = shown.report;
    format!(
        "{}: {} kept in the last {}, {} of them in the uniform sample; about {:.0} in all",
        time_text(report.window.now_s),
        model::count(usize::try_from(report.kept).unwrap_or(usize::MAX), "trace"),
        shown.window.word(),
        report.sampled,
        report.estimated_traces
    )
}

fn cost_lines(shown: &WatchReport<'_>) -> Vec<String> {
    let report = shown.report;
    let mut lines = vec![];
    if report.usage.traces > 0.0 {
        let per_task = report.usage.usd_per_completed().map_or_else(String::new, |usd| format!(", {usd:.4} USD per completed task"));
        lines.push(format!("model calls of the window: {:.4} USD{per_task}", report.usage.total_usd));
    }
    if let Some(burn) = &report.budget {
        lines.push(format!(
            "budget of the day: {:.2} of {:.2} USD spent, {:.2} USD forecast",
            burn.spent_usd, burn.budget_usd, burn.forecast_usd
        ));
    }
    if let Some(judge) = &report.judge {
        let traces = model::count(usize::try_from(judge.judged).unwrap_or(usize::MAX), "trace");
        lines.push(format!("judge: {:.4} of {:.2} USD spent today, {traces} judged in the window", judge.spent_usd, judge.usd_per_day));
    }
    if !report.failing.is_empty() {
        let listed: Vec<&str> = report.failing.iter().take(MAX_FAILING).map(String::as_str).collect();
        lines.push(format!("traces with a miss: {} ({})", report.failing.len(), listed.join(" ")));
    }
    lines
}

pub(crate) fn watch_text(shown: &WatchReport<'_>) -> String {
    let mut text = format!("{}\n", heading(shown));
    for table in tables(shown) {
        // Writing to memory cannot fail.
        let _ = writeln!(text, "\n{}", table.title);
        let width = |column: usize| {
            let cells = table.rows.iter().map(|row| row[column].chars().count());
            cells.chain([table.head[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..table.head.len()).map(width).collect();
        let head: Vec<String> = table.head.iter().map(|cell| (*cell).to_owned()).collect();
        for row in std::iter::once(&head).chain(&table.rows) {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count()))).collect();
            let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
        }
    }
    text.push('\n');
    for line in cost_lines(shown).into_iter().chain(shown.notes()) {
        let _ = writeln!(text, "{line}");
    }
    text
}

pub(crate) fn watch_markdown(shown: &WatchReport<'_>) -> String {
    let cell = |text: &String| text.replace('|', "\\|");
    let mut text = format!("## Production\n\n{}\n", heading(shown));
    for table in tables(shown) {
        // Writing to memory cannot fail.
        let _ = writeln!(text, "\n### {}\n\n| {} |\n|{}", table.title, table.head.join(" | "), "---|".repeat(table.head.len()));
        for row in &table.rows {
            let _ = writeln!(text, "| {} |", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
        }
    }
    text.push('\n');
    for line in cost_lines(shown).into_iter().chain(shown.notes()) {
        let _ = writeln!(text, "- {line}");
    }
    text
}

pub(crate) fn watch_json(shown: &WatchReport<'_>, exit: ExitKind) -> String {
    let report = shown.report;
    let verdict = |found: &::score::production::WindowVerdict| {
        let (result, metric) = (&found.result, &found.result.metric);
        json!({
            "gate": result.gate, "spec": result.spec, "slice": metric.slice, "window": found.window.word(), "scorer": metric.scorer,
            "value": metric.value, "low": metric.low, "high": metric.high, "n": metric.n, "effective_n": metric.effective_n,
            "traces": metric.cases, "bound": result.bound, "verdict": result.verdict, "because": result.because,
            "worst": result.worst.iter().map(|worst| json!({ "trace": worst.trial, "because": worst.because })).collect::<Vec<_>>(),
        })
    };
    let spend: serde_json::Map<String, Value> =
        SPEND_AXES.iter().map(|axis| ((*axis).to_owned(), json!(report.usage.spend(axis)))).collect();
    let latency: serde_json::Map<String, Value> =
        LATENCY_AXES.iter().map(|axis| ((*axis).to_owned(), json!(report.usage.latency(axis)))).collect();
    let counters: serde_json::Map<String, Value> =
        report.counters.iter().map(|(counter, n)| (counter.word().to_owned(), json!(n))).collect();
    let value = json!({
        "format": FORMAT, "command": "watch", "now": report.window.now_s, "window": shown.window.word(),
        "traces": { "kept": report.kept, "sampled": report.sampled, "estimated": report.estimated_traces },
        "verdicts": report.verdicts.iter().map(verdict).collect::<Vec<_>>(),
        "changes": shown.alarms,
        "cost": {
            "usd": report.usage.total_usd, "usd_per_completed_task": report.usage.usd_per_completed(), "by": spend,
            "unknown_prices": report.usage.unknown_prices, "budget": report.budget, "judge": report.judge,
        },
        "transactions": {
            "decoded": report.decoded_transactions, "undecoded_traces": report.undecoded_transactions,
            "undecoded_because": report.undecoded_because, "contradictions": report.contradictions,
        },
        "latency_ms": latency,
        "failing": report.failing.iter().take(1000).collect::<Vec<_>>(),
        "counters": counters,
        "gaps": report.gaps,
        "notes": shown.notes(),
        "exit": exit.code(),
    });
    format!("{value:#}\n")
}
