//! Production traffic for the viewer, from the store of traces.

use super::super::collect::unix_ms;
use super::super::traffic::referred_replay;
use crate::report::WatchReport;
use ::run::Clock;
use ::score::drift::DriftAlarm;
use campaign::{DriftReplay, ProductionReport, ReportWindow, time_text};
use foreign::TraceFacts;
use model::{GateWindow, Score, UserError, Workspace};
use serve::pages::{ProductionSummary, SignalCourse, UsageEntry, UsageSection};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use store::production::ProductionStore;
use store::{StoreError, StoreLocation};

/// Parts of a window in a chart.
const PARTS: usize = 48;
/// Charts of the page. Those with an alarm come first.
const MAX_CHARTS: usize = 12;
/// Traces read at a time, and alarms that are kept.
const PAGE: usize = 1_000;
const MAX_ALARMS: usize = 1_000;

/// Store of traces, and the changes that were found in it so far.
pub(super) struct ProductionReader {
    traces: StoreLocation,
    /// Store of runs, which has the reference.
    runs: StoreLocation,
    /// Absent until a page is read.
    drift: Mutex<Option<(DriftReplay, Vec<DriftAlarm>)>>,
}

impl ProductionReader {
    pub(super) fn new(traces: StoreLocation, runs: StoreLocation) -> Self {
        Self { traces, runs, drift: Mutex::default() }
    }

    /// Reads a window; `Err` says why there is nothing to show.
    pub(super) fn read(&self, workspace: &Workspace, window: GateWindow) -> Result<ProductionSummary, String> {
        let missing = || {
            let other = if self.traces.file().is_some() { "file" } else { "store" };
            format!("There are no traces in {}. bardo-eval collect receives them; --traces names another {other}.", self.traces)
        };
        let found = ProductionStore::open_existing(&self.traces).map_err(|error| error.to_string())?;
        let store = found.ok_or_else(missing)?;
        let span = ReportWindow { now_s: unix_ms(Clock::system()) / 1000, length_s: window.seconds() };
        let alarms = self.alarms(workspace, &store).map_err(|error| error.to_string())?;
        let made = ProductionReport::read(workspace, &store, span).and_then(|report| {
            let shown = WatchReport::new(&report, &alarms, window);
            let courses = signal_courses(&store, span, &shown.alarms)?;
            Ok(summary(&shown, courses))
        });
        made.map_err(|error: StoreError| error.to_string())
    }

    /// Returns all alarms, as `watch` finds them.
    fn alarms(&self, workspace: &Workspace, store: &ProductionStore) -> Result<Vec<DriftAlarm>, UserError> {
        let mut drift = self.drift.lock().unwrap_or_else(PoisonError::into_inner);
        let (replay, found) = match &mut *drift {
            Some(drift) => drift,
            none => none.insert((referred_replay(workspace, None, &self.runs)?, vec![])),
        };
        found.extend(replay.advance(workspace, store)?);
        let excess = found.len().saturating_sub(MAX_ALARMS);
        found.drain(..excess);
        Ok(found.iter().cloned().chain(replay.unsettled()).collect())
    }
}

/// Sum and number of the values in each part of a window.
#[derive(Default)]
struct CourseSums {
    parts: BTreeMap<usize, (f64, f64)>,
    is_rate: bool,
}

/// Returns the pass rate of every scorer and the mean latency in parts of the window, from the uniform sample, those with an alarm first.
fn signal_courses(store: &ProductionStore, span: ReportWindow, alarms: &[&DriftAlarm]) -> Result<Vec<SignalCourse>, StoreError> {
    let from = span.now_s.saturating_sub(span.length_s);
    let mut sums: BTreeMap<String, CourseSums> = BTreeMap::new();
    let mut after = 0;
    loop {
        let page = store.kept_traces(from, after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for kept in page.iter().filter(|kept| kept.sampled && kept.at_s <= span.now_s) {
            let (Ok(facts), Ok(scores)) =
                (serde_json::from_str::<TraceFacts>(&kept.facts), serde_json::from_str::<Vec<Score>>(&kept.scores))
            else {
                continue;
            };
            let part = usize::try_from((kept.at_s - from) * PARTS as u64 / span.length_s.max(1)).unwrap_or(0).min(PARTS - 1);
            let mut add = |name: String, value: f64, is_rate: bool| {
                let course = sums.entry(name).or_default();
                course.is_rate = is_rate;
                let (sum, n) = course.parts.entry(part).or_default();
                (*sum, *n) = (*sum + value, *n + 1.0);
            };
            add("pass rate of error_free".into(), f64::from(u8::from(facts.failed == 0)), true);
            add("latency_ms".into(), facts.end_ns.saturating_sub(facts.start_ns) as f64 / 1e6, false);
            for score in scores.iter().filter(|score| score.reading.is_exercised()) {
                let is_clean = !score.reading.is_violation();
                add(format!("pass rate of {}", score.scorer), f64::from(u8::from(is_clean)), true);
            }
        }
    }
    let has_alarm = |name: &str| alarms.iter().any(|alarm| alarm.signal.name() == name);
    let mut courses: Vec<SignalCourse> = sums
        .into_iter()
        .map(|(name, sums)| {
            let value = |part: usize| sums.parts.get(&part).map(|(sum, n)| sum / n);
            SignalCourse { values: (0..PARTS).map(value).collect(), is_rate: sums.is_rate, name }
        })
        .collect();
    courses.sort_by_key(|course| !has_alarm(&course.name));
    courses.truncate(MAX_CHARTS);
    Ok(courses)
}

fn summary(shown: &WatchReport<'_>, courses: Vec<SignalCourse>) -> ProductionSummary {
    let report = shown.report;
    ProductionSummary {
        window: shown.window,
        verdict: report.verdict(!shown.alarms.is_empty()),
        notes: shown.notes(),
        from_s: report.window.now_s.saturating_sub(report.window.length_s),
        now_s: report.window.now_s,
        now: time_text(report.window.now_s),
        kept: report.kept,
        sampled: report.sampled,
        estimated: report.estimated_traces,
        verdicts: report.verdicts.clone(),
        alarms: shown.alarms.iter().map(|alarm| (time_text(alarm.since), (*alarm).clone())).collect(),
        courses,
        total_usd: report.usage.total_usd,
        usd_per_completed: report.usage.usd_per_completed(),
        budget: report.budget.as_ref().map(|burn| [burn.budget_usd, burn.spent_usd, burn.forecast_usd]),
        unknown_prices: report.usage.unknown_prices.iter().cloned().collect(),
        sections: usage_sections(report),
        failing: report.failing.clone(),
    }
}

fn usage_sections(report: &ProductionReport) -> Vec<UsageSection> {
    let spend = ["model", "agent", "skill", "day"].into_iter().map(|axis| UsageSection {
        title: format!("Cost by {axis}"),
        head: vec![axis, "traces", "calls", "USD", "calls without a price"],
        rows: report
            .usage
            .spend(axis)
            .into_iter()
            .map(|row| UsageEntry {
                name: row.name,
                cells: vec![
                    format!("{:.0}", row.traces),
                    format!("{:.0}", row.calls),
                    format!("{:.4}", row.usd),
                    format!("{:.0}", row.unpriced_calls),
                ],
            })
            .collect(),
    });
    let latency = ["model", "agent", "tool"].into_iter().map(|axis| UsageSection {
        title: format!("Latency by {axis}, ms"),
        head: vec![axis, "count", "p50", "p95", "p99"],
        rows: report
            .usage
            .latency(axis)
            .into_iter()
            .map(|row| UsageEntry {
                name: row.name,
                cells: [row.count, row.p50, row.p95, row.p99].map(|value| format!("{value:.0}")).to_vec(),
            })
            .collect(),
    });
    spend.chain(latency).collect()
}
