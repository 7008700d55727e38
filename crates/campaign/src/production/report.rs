//! Report of a window of production traffic.

use super::judged_share::judged_scores;
use super::trace_judge::trace_hex;
use super::usage::UsageTable;
use foreign::{TraceFacts, TransactionRef};
use model::{GateWindow, Money, SamplingRates, Score, Tool, Verdict, Workspace};
use score::production::{SampleWeight, TraceScores, WindowVerdict, judge_window};
use serde::Serialize;
use std::collections::BTreeMap;
use store::StoreError;
use store::production::{ProductionCounter, ProductionStore, StoreMark, TraceId};

const PAGE: usize = 1_000;
/// Reasons that a report lists.
const MAX_REASONS: usize = 20;
const DAY_S: u64 = 86_400;
/// Seconds after its greatest age in which a trace may wait for receipts.
const DECISION_GRACE_S: u64 = 300;
/// Seconds after which a collector that did nothing counts as stopped.
pub(super) const MAX_SILENCE_S: u64 = 600;

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
    /// Spans are believed about effects that no node tells.
    pub trusts_spans: bool,
    /// Senders can know which ids of traces are outside the sample.
    pub has_known_sample: bool,
    /// Transactions of the window that were read from their chains.
    pub decoded_transactions: u64,
    /// The newest reasons why effects are not known, and statements that chains contradict.
    pub undecoded_because: Vec<String>,
    pub contradictions: Vec<String>,
    /// Traces that state decisions, signatures or effects without being trusted.
    pub ignored_claims: u64,
    pub judge: Option<JudgeSpending>,
    /// Traces with a scorer that missed, newest first.
    pub failing: Vec<String>,
    /// Reasons why the window may lack evidence, so that met gates are no pass.
    pub gaps: Vec<String>,
}

/// Money of the judge on the current day, UTC, and the traces of the window that it graded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeSpending {
    pub spent_usd: f64,
    pub usd_per_day: f64,
    pub judged: u64,
}

/// Spending of the current day, UTC.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetBurn {
    pub budget_usd: f64,
    pub spent_usd: f64,
    /// Spending at the end of the day at the current rate.
    pub forecast_usd: f64,
}

impl BudgetBurn {
    /// Returns the spending at a time. The first hour is too short for a forecast of its own.
    fn at(now_s: u64, budget_usd: f64, spent_usd: f64) -> Self {
        let share = ((now_s % DAY_S) as f64 / DAY_S as f64).max(1.0 / 24.0);
        Self { budget_usd, spent_usd, forecast_usd: spent_usd / share }
    }
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
        let judge_nanos = store.judge_spending(window.now_s / DAY_S)?;
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
            trusts_spans: workspace.production.trust_claims,
            has_known_sample: has_known_sample(&workspace.production.sampling),
            decoded_transactions: 0,
            undecoded_because: vec![],
            contradictions: vec![],
            ignored_claims: 0,
            judge: None,
            failing: vec![],
            gaps: evidence_gaps(workspace, store, window.now_s, from)?,
        };
        let mut judged: BTreeMap<TraceId, Score> = judged_scores(store, from)?.into_iter().collect();
        let (mut graded, mut traces, mut today_usage, mut after, mut unreadable) = (0, vec![], UsageTable::default(), 0, 0);
        loop {
            let page = store.kept_traces(from, after, PAGE)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for kept in page {
                let (Ok(facts), Ok(mut scores)) =
                    (serde_json::from_str::<TraceFacts>(&kept.facts), serde_json::from_str::<Vec<Score>>(&kept.scores))
                else {
                    unreadable += 1;
                    continue;
                };
                let answer = judged.remove(&kept.trace);
                let is_graded = u64::from(answer.is_some());
                scores.extend(answer);
                let weight = SampleWeight { probability: kept.probability }.weight();
                if kept.at_s >= today && kept.at_s <= window.now_s {
                    today_usage.add(workspace, &facts, weight, "today");
                }
                if kept.at_s > window.now_s.saturating_sub(window.length_s) && kept.at_s <= window.now_s {
                    report.kept += 1;
                    report.sampled += u64::from(kept.sampled);
                    report.estimated_traces += weight;
                    report.add_effects(workspace, &facts);
                    graded += is_graded;
                    report.usage.add(workspace, &facts, weight, &day_of(kept.at_s));
                    if scores.iter().any(|score| score.reading.is_violation()) {
                        report.failing.push(trace_hex(&kept.trace));
                    }
                }
                let (agents, skills) = (facts.agents, facts.skills);
                traces.push(TraceScores { trace: trace_hex(&kept.trace), at: kept.at_s, weight, agents, skills, scores });
            }
        }
        if unreadable > 0 {
            report.gaps.push(format!("{} cannot be read: the file is damaged", model::count(unreadable, "stored trace")));
        }
        report.failing.reverse();
        report.judge = workspace.production.judge.as_ref().map(|judge| JudgeSpending {
            spent_usd: Money::from_nanos(judge_nanos).as_usd(),
            usd_per_day: judge.usd_per_day.as_usd(),
            judged: graded,
        });
        report.verdicts = judge_window(workspace, &traces, window.now_s);
        report.add_usage_gaps(workspace, &today_usage);
        let budget = workspace.production.budget_usd_per_day;
        report.budget = budget.map(|budget| BudgetBurn::at(window.now_s, budget.as_usd(), today_usage.total_usd));
        Ok(report)
    }

    /// Adds what is known of the effects of a trace.
    fn add_effects(&mut self, workspace: &Workspace, facts: &TraceFacts) {
        let is_sent = |found: &TransactionRef| found.is_sent && workspace.tool(&found.tool).is_none_or(Tool::writes);
        let is_known = facts.decoded_transactions > 0 || !facts.contradictions.is_empty();
        let is_unread = !is_known && facts.transactions.iter().any(is_sent);
        self.undecoded_transactions += u64::from(is_unread || !facts.undecoded.is_empty());
        self.decoded_transactions += facts.decoded_transactions;
        self.ignored_claims += u64::from(facts.ignored_claims > 0);
        for (into, from) in [(&mut self.undecoded_because, &facts.undecoded), (&mut self.contradictions, &facts.contradictions)] {
            into.extend(from.iter().cloned());
            let excess = into.len().saturating_sub(MAX_REASONS);
            into.drain(..excess);
        }
    }

    /// Adds what is not known of effects and prices.
    fn add_usage_gaps(&mut self, workspace: &Workspace, today: &UsageTable) {
        if let Some(why) = self.undecoded_because.last() {
            let traces = usize::try_from(self.undecoded_transactions).unwrap_or(usize::MAX);
            self.gaps.push(format!("effects of {} are not known, such as {why}", model::count(traces, "trace")));
        }
        if workspace.production.budget_usd_per_day.is_some() && !today.unknown_prices.is_empty() {
            let models: Vec<&str> = today.unknown_prices.iter().map(String::as_str).take(MAX_REASONS).collect();
            self.gaps.push(format!("the budget of the day cannot be checked: no price or no tokens of {}", models.join(", ")));
        }
    }

    /// Returns whether model calls of the day will cost more than their budget.
    pub fn is_over_budget(&self) -> bool {
        self.budget.as_ref().is_some_and(|burn| burn.forecast_usd > burn.budget_usd)
    }

    /// Returns the verdict on the window, of which `has_alarm` says whether a change was found in it. Nothing but complete evidence is met.
    pub fn verdict(&self, has_alarm: bool) -> Verdict {
        if self.has(Verdict::Missed) || has_alarm || !self.contradictions.is_empty() || self.is_over_budget() {
            Verdict::Missed
        } else if self.verdicts.is_empty() || self.has(Verdict::NoEvidence) || self.kept == 0 || !self.gaps.is_empty() {
            Verdict::NoEvidence
        } else {
            Verdict::Met
        }
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
        if let Some(judge) = &self.judge {
            let _ = writeln!(text, "bardo_eval_judge_spent_usd_today {}", judge.spent_usd);
            let _ = writeln!(text, "bardo_eval_judge_usd_per_day {}", judge.usd_per_day);
        }
        text
    }
}

/// Returns what the file itself lacks: traces that are not decided in time, traces that were removed or lost, and times without a collector.
fn evidence_gaps(workspace: &Workspace, store: &ProductionStore, now_s: u64, from_s: u64) -> Result<Vec<String>, StoreError> {
    let mut gaps = vec![];
    let due_s = now_s.saturating_sub(workspace.production.max_age_s + DECISION_GRACE_S);
    let overdue = store.overdue_traces(due_s * 1000)?;
    if overdue > 0 {
        let traces = model::count(usize::try_from(overdue).unwrap_or(usize::MAX), "trace");
        gaps.push(format!("{traces} should be decided since {}", time_text(due_s)));
    }
    if let Some(until) = store.mark(StoreMark::RemovedUntil)?.filter(|until| *until >= from_s) {
        gaps.push(format!("traces that arrived until {} were removed for their size", time_text(until)));
    }
    let lost = store.incomplete_drops(from_s.saturating_mul(1000))?;
    if lost > 0 {
        let traces = model::count(usize::try_from(lost).unwrap_or(usize::MAX), "trace");
        gaps.push(format!("spans of {traces} were refused, and nothing else can be read there"));
    }
    for outage in store.outages(from_s, MAX_REASONS)? {
        gaps.push(format!("no collector worked from {} to {}", time_text(outage.from_s), time_text(outage.to_s)));
    }
    match store.mark(StoreMark::Worked)? {
        Some(worked) if worked > now_s.saturating_add(MAX_SILENCE_S) => {
            gaps.push(format!("the clock of the collector is ahead: it last worked at {}", time_text(worked)));
        }
        Some(worked) if worked.saturating_add(MAX_SILENCE_S) >= now_s => {}
        Some(worked) => gaps.push(format!("no collector has worked since {}", time_text(worked))),
        None => gaps.push("no collector has worked on the file".to_owned()),
    }
    Ok(gaps)
}

/// Returns whether senders can choose ids that are not sampled.
fn has_known_sample(rates: &SamplingRates) -> bool {
    let mut all = [rates.rate].into_iter().chain(rates.agents.values().copied()).chain(rates.skills.values().copied());
    rates.key.prefix().is_empty() && all.any(|rate| rate < 1.0)
}

/// Returns a UTC time in seconds, as `2026-11-18T12:00:00Z`.
pub fn time_text(at_s: u64) -> String {
    humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + std::time::Duration::from_secs(at_s)).to_string()
}

/// Returns the UTC date of a time, as `2026-11-18`.
fn day_of(at_s: u64) -> String {
    time_text(at_s).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spending_is_forecast_to_the_end_of_the_day() {
        let noon = 20_000 * DAY_S + DAY_S / 2;
        assert_eq!(BudgetBurn::at(noon, 10.0, 6.0), BudgetBurn { budget_usd: 10.0, spent_usd: 6.0, forecast_usd: 12.0 });
        let evening = 20_000 * DAY_S + DAY_S * 3 / 4;
        assert_eq!(BudgetBurn::at(evening, 10.0, 6.0).forecast_usd, 8.0);
        // One minute after midnight counts as an hour.
        assert_eq!(BudgetBurn::at(20_000 * DAY_S + 60, 10.0, 0.5).forecast_usd, 12.0);
    }
}
