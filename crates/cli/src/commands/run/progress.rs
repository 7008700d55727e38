//! Executes a run and shows its progress on standard error: one line that is redrawn on a terminal, else a line every 30 seconds.

use crate::io::CliOutput;
use ::run::Stopwatch;
use campaign::{CancellationToken, PreparedRun, RunHandle, RunSummary, RunWatcher, WatchedTrial, WatcherDecision, execute};
use model::{CaseOutcome, Money};
use std::io::IsTerminal;
use std::time::Duration;
use store::StoreError;

/// Time between two redraws of the line, and between two lines of a log.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// Executes the run. Ctrl-C, SIGTERM and SIGHUP cancel it; trials that have ended are stored. A second signal does not wait
/// for them.
pub(super) async fn execute_watched(io: &CliOutput, prepared: &PreparedRun, handle: &RunHandle) -> Result<RunSummary, StoreError> {
    let cancel = CancellationToken::new();
    let interrupt = cancel.clone();
    let listener = tokio::spawn(async move {
        if crate::signals::stop_requested().await.is_ok() {
            interrupt.cancel();
            crate::signals::exit_on_next_request().await;
        }
    });
    let mut progress = ProgressWatcher::new(io, prepared, handle);
    let summary = execute(prepared, handle, &mut progress, cancel).await;
    progress.close();
    listener.abort();
    summary
}

struct ProgressWatcher<'r> {
    io: &'r CliOutput,
    prepared: &'r PreparedRun,
    /// Trials that ended before this process started.
    before: u64,
    done: u64,
    failed: u64,
    since_start: Stopwatch,
    since_line: Stopwatch,
    has_lines: bool,
    terminal: bool,
}

impl<'r> ProgressWatcher<'r> {
    fn new(io: &'r CliOutput, prepared: &'r PreparedRun, handle: &RunHandle) -> Self {
        let now = prepared.clock().stopwatch();
        let terminal = std::io::stderr().is_terminal();
        let (since_start, since_line, before) = (now, now, handle.ended_before());
        Self { io, prepared, before, done: 0, failed: 0, since_start, since_line, has_lines: false, terminal }
    }

    fn planned(&self) -> u64 {
        self.prepared.plan().outline().len()
    }

    /// Removes the redrawn line; a log keeps its lines and gets the last count.
    fn close(&self) {
        match (self.has_lines, self.terminal) {
            (false, _) => {}
            (true, true) => self.io.redraw_message(""),
            (true, false) => {
                self.io.print_message(&format!("{} of {} done", self.before + self.done, model::count(self.planned(), "trial")));
            }
        }
    }

    fn progress_line(&self) -> String {
        let left = self.planned().saturating_sub(self.before + self.done);
        let elapsed = self.since_start.elapsed().as_secs_f64();
        let rate = self.done as f64 / elapsed.max(0.001);
        let eta = Duration::from_secs((left as f64 / rate.max(0.001)).round() as u64);
        let spent = self.prepared.funds().budget.spent();
        let spent = if spent == Money::ZERO { String::new() } else { format!(", {spent} USD spent") };
        let (done, planned) = (self.before + self.done, model::count(self.planned(), "trial"));
        format!("{done} of {planned}, {rate:.1} per second, {} left, {} failing{spent}", humantime::format_duration(eta), self.failed)
    }
}

impl RunWatcher for ProgressWatcher<'_> {
    fn on_trial_ended(&mut self, trial: &WatchedTrial<'_>) {
        self.done += 1;
        self.failed += u64::from(trial.outcome == CaseOutcome::Failed);
        let interval = if self.terminal { REDRAW_INTERVAL } else { LOG_INTERVAL };
        if self.since_line.elapsed() < interval {
            return;
        }
        self.has_lines = true;
        self.since_line = self.prepared.clock().stopwatch();
        if self.terminal {
            self.io.redraw_message(&self.progress_line());
        } else {
            self.io.print_message(&self.progress_line());
        }
    }

    fn on_trial_in_order(&mut self, _: &WatchedTrial<'_>) -> WatcherDecision {
        WatcherDecision::Continue
    }
}
