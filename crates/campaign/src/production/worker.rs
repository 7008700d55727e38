//! Steps of a collector between requests: settle traces, watch for changes, raise alerts, forget what is old.

use super::monitor::{DriftReplay, ProductionAlert, new_alerts};
use super::report::{MAX_SILENCE_S, ProductionReport, ReportWindow};
use super::trace_judge::{SettleResult, TraceJudge, settle_traces};
use model::Workspace;
use store::StoreError;
use store::production::ProductionStore;

/// Milliseconds between two reports, and between two removals of old traces.
const REPORT_EVERY_MS: u64 = 10_000;
const RETAIN_EVERY_MS: u64 = 600_000;
const DAY_S: u64 = 86_400;
/// Seconds after which a change is reported that few traces show.
const UNSETTLED_S: u64 = 60;

/// Work of a collector.
#[derive(Debug)]
pub struct ProductionWorker<'w> {
    workspace: &'w Workspace,
    store: ProductionStore,
    judge: TraceJudge<'w>,
    drift: DriftReplay,
    reported_ms: Option<u64>,
    retained_ms: Option<u64>,
}

/// Result of one step.
#[derive(Debug, Default)]
pub struct WorkerStep {
    pub settled: SettleResult,
    /// New alerts. They are stored, and delivered from there.
    pub alerts: Vec<ProductionAlert>,
    /// Lines for metrics, if there is a new report.
    pub gauges: Option<String>,
}

impl<'w> ProductionWorker<'w> {
    pub fn new(workspace: &'w Workspace, store: ProductionStore, drift: DriftReplay) -> Self {
        let judge = TraceJudge::new(workspace);
        Self { workspace, store, judge, drift, reported_ms: None, retained_ms: None }
    }

    pub fn store(&self) -> &ProductionStore {
        &self.store
    }

    /// Does what is due at a time.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be used; the next step tries again.
    pub fn step(&mut self, now_ms: u64, go_on: &dyn Fn() -> bool) -> Result<WorkerStep, StoreError> {
        let mut step = WorkerStep { settled: settle_traces(&self.store, &self.judge, now_ms, go_on)?, ..WorkerStep::default() };
        if self.reported_ms.is_none_or(|last| now_ms.saturating_sub(last) >= REPORT_EVERY_MS) {
            self.reported_ms = Some(now_ms);
            let now_s = now_ms / 1000;
            self.store.note_work(now_s, MAX_SILENCE_S)?;
            let mut alarms = self.drift.advance(self.workspace, &self.store)?;
            // One trace is enough for an alert, so that little traffic is not waited for. The alert is raised once, at the time of the change.
            alarms.extend(self.drift.unsettled().into_iter().filter(|alarm| alarm.found + UNSETTLED_S <= now_s));
            let report = ProductionReport::read(self.workspace, &self.store, ReportWindow { now_s, length_s: DAY_S })?;
            step.gauges = Some(report.gauges());
            let cool_down = self.workspace.production.cool_down_s;
            for alert in new_alerts(&report, &alarms, now_s) {
                let body = serde_json::to_string(&alert).unwrap_or_default();
                if self.store.raise_alert(&alert.key, alert.at_s, cool_down, &body)?.is_some() {
                    step.alerts.push(alert);
                }
            }
        }
        if self.retained_ms.is_none_or(|last| now_ms.saturating_sub(last) >= RETAIN_EVERY_MS) {
            self.retained_ms = Some(now_ms);
            let kept = self.workspace.production.retention;
            self.store.retain(now_ms, kept.days, kept.megabytes << 20)?;
        }
        Ok(step)
    }
}
