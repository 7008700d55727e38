//! Report of a window of production traffic.

use super::trace_judge::trace_hex;
use super::usage::UsageTable;
use foreign::TraceFacts;
use model::{GateWindow, Score, Verdict, Workspace};
use score::production::{SampleWeight, TraceScores, WindowVerdict, judge_window};
use serde::Serialize;
use store::StoreError;
use store::production::{ProductionCounter, ProductionStore};

const PAGE: usize = 1_000;
const DAY_S: u64 = 86_400;

/// Span of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportWindow {
    /// Seconds since 1970.
    pub now_s: u64,
    pub length_s: u64,
}

/// Gates, cost and latency of a window.
#[derive(Debug)]
pub struct ProductionReport {
    pub window: ReportWindow,
    pub verdicts: Vec<WindowVerdict>,
    pub usage: UsageTable,
    pub budget: Option<BudgetBurn>,
    /// Kept traces of the window, those of the uniform sample, and the estimated number of all.
    pub kept: u64,
    pub sampled: u64,
    pub estimated_traces: f64,
    /// Counts since the file was created.
    pub counters: Vec<(ProductionCounter, u64)>,
    /// Traces with transactions whose effects are not decoded, so that scorers of effects are not exercised.
    pub undecoded_transactions: u64,
    /// Traces with a scorer that missed, newest first.
    pub failing: Vec<String>,
}

/// Spending of the current day, UTC.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetBurn {
    pub budget_usd: f64,
    pub spent_usd: f64,
    /// Spending at the end of the day if it goes on as until now.
    pub forecast_usd: f64,
}

impl ProductionReport {
    /// Reads the kept traces of the longest window that is needed.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub fn read(workspace: &Workspace, store: &ProductionStore, window: ReportWindow) -> Result<Self, StoreError> {
        let longest = workspace.gates.iter().filter_map(|gate| gate.window).map(GateWindow::seconds).max().unwrap_or(0);
        let from = window.now_s.saturating_sub(longest.max(window.length_s).max(DAY_S));
        let today = window.now_s - window.now_s % DAY_S;
        let mut report = Self {
            window,
            verdicts: vec![],
            usage: UsageTable::default(),
            budget: None,
            kept: 0,
            sampled: 0,
            estimated_traces: 0.0,
            counters: store.counters()?,
            undecoded_transactions: 0,
            failing: vec![],
        };
        let (mut traces, mut today_usage, mut after) = (vec![], UsageTable::default(), 0);
        loop {
            let page = store.kept_traces(from, after, PAGE)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for kept in page {
                let (Ok(facts), Ok(scores)) =
                    (serde_json::from_str::<TraceFacts>(&kept.facts), serde_json::from_str::<Vec<Score>>(&kept.scores))
                else {
                    continue;
                };
                let weight = SampleWeight { probability: kept.probability }.weight();
                if kept.at_s >= today && kept.at_s <= window.now_s {
                    today_usage.add(workspace, &facts, weight, "today");
                }
                if kept.at_s > window.now_s.saturating_sub(window.length_s) && kept.at_s <= window.now_s {
                    report.kept += 1;
                    report.sampled += u64::from(kept.sampled);
                    report.estimated_traces += weight;
                    report.undecoded_transactions += u64::from(!facts.transactions.is_empty());
                    report.usage.add(workspace, &facts, weight, &day_of(kept.at_s));
                    if scores.iter().any(|score| score.reading.is_violation()) {
                        report.failing.push(trace_hex(&kept.trace));
                    }
                }
                let (agents, skills) = (facts.agents, facts.skills);
                traces.push(TraceScores { trace: trace_hex(&kept.trace), at: kept.at_s, weight, agents, skills, scores });
            }
        }
        report.failing.reverse();
        report.verdicts = judge_window(workspace, &traces, window.now_s);
        report.budget = workspace.production.budget_usd_per_day.map(|budget| {
            let share = ((window.now_s - today) as f64 / DAY_S as f64).max(1.0 / 24.0);
            let spent_usd = today_usage.total_usd;
            BudgetBurn { budget_usd: budget.as_nanos() as f64 / 1e9, spent_usd, forecast_usd: spent_usd / share }
        });
        Ok(report)
    }

    /// Returns whether any gate has this verdict.
    pub fn has(&self, verdict: Verdict) -> bool {
        self.verdicts.iter().any(|found| found.result.verdict == verdict)
    }

    /// Returns lines for the metrics of the collector.
    pub fn gauges(&self) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        for verdict in &self.verdicts {
            let result = &verdict.result;
            let slice: String = result.metric.slice.chars().filter(|c| *c != '"' && *c != '\\' && !c.is_control()).collect();
            let labels = format!("gate=\"{}\",slice=\"{slice}\",window=\"{}\"", result.gate, verdict.window.word());
            let state = match result.verdict {
                Verdict::Met => 1,
                Verdict::Missed => 0,
                Verdict::NoEvidence => -1,
            };
            // Writing to memory cannot fail.
            if let Some(value) = result.metric.value {
                let _ = writeln!(text, "bardo_eval_gate_value{{{labels}}} {value}");
            }
            let _ = writeln!(text, "bardo_eval_gate_met{{{labels}}} {state}");
        }
        text
    }
}

/// Returns the UTC date of a time, as `2026-11-18`.
fn day_of(at_s: u64) -> String {
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(at_s);
    humantime::format_rfc3339_seconds(at).to_string().chars().take(10).collect()
}
