//! Executes a run and prints progress lines to standard error if it is a terminal.

use crate::io::CliOutput;
use ::run::Stopwatch;
use campaign::{CancellationToken, PreparedRun, RunHandle, RunSummary, RunWatcher, WatchedTrial, WatcherDecision, execute};
use model::{CaseOutcome, Money};
use std::io::IsTerminal;
use std::time::Duration;
use store::StoreError;

/// Minimum time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

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
    progress.print_final_line();
    listener.abort();
    summary
}

struct ProgressWatcher<'r> {
    io: &'r CliOutput,
    prepared: &'r PreparedRun,
    /// Trials that ended before this process started.
    before: u64,
    done: u64,
    passed: u64,
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
        Self { io, prepared, before, done: 0, passed: 0, failed: 0, since_start, since_line, has_lines: false, terminal }
    }

    fn planned(&self) -> u64 {
        self.prepared.plan().outline().len()
    }

    fn print_final_line(&self) {
        if self.has_lines {
            self.io.print_message(&format!("{} of {} done", self.before + self.done, model::count(self.planned(), "trial")));
        }
    }

    fn progress_line(&self) -> String {
        let left = self.planned().saturating_sub(self.before + self.done);
        let pace = self.since_start.elapsed().as_secs_f64() / self.done.max(1) as f64;
        let eta = Duration::from_secs((pace * left as f64).round() as u64);
        let judged = self.passed + self.failed;
        let passing = if judged == 0 { String::new() } else { format!(", {} of {judged} passing", self.passed) };
        let spent = self.prepared.funds().budget.spent();
        let spent = if spent == Money::ZERO { String::new() } else { format!(", {spent} USD spent") };
        let (done, planned) = (self.before + self.done, model::count(self.planned(), "trial"));
        format!("{done} of {planned}{passing}{spent}, {} left", humantime::format_duration(eta))
    }
}

impl RunWatcher for ProgressWatcher<'_> {
    fn on_trial_ended(&mut self, trial: &WatchedTrial<'_>) {
        self.done += 1;
        match trial.outcome {
            CaseOutcome::Passed => self.passed += 1,
            CaseOutcome::Failed => self.failed += 1,
            CaseOutcome::Unjudged | CaseOutcome::Aborted { .. } => {}
        }
        if self.terminal && self.since_line.elapsed() >= LINE_INTERVAL {
            self.has_lines = true;
            self.since_line = self.prepared.clock().stopwatch();
            self.io.print_message(&self.progress_line());
        }
    }

    fn on_trial_in_order(&mut self, _: &WatchedTrial<'_>) -> WatcherDecision {
        WatcherDecision::Continue
    }
}
