//! Executes a run and shows its progress on standard error: one line that is redrawn on a terminal, else a line every 30 seconds.

use crate::io::CliOutput;
use ::run::Stopwatch;
use campaign::{
    CancellationToken, PreparedRun, PublishedRun, RunHandle, RunSummary, RunWatcher, WatchedTrial, WatcherDecision, execute, watch,
};
use model::{CaseOutcome, Money};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::StoreError;
use tokio::time::{MissedTickBehavior, interval};

/// Time between two redraws of the line, and between two lines of a log.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// Process that plays the trials of a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum TrialPlayer<'p> {
    ThisProcess,
    /// Workers, and the time to wait for one that can play what is left.
    Workers(&'p PublishedRun, Duration),
}

/// Executes the run. Ctrl-C, SIGTERM and SIGHUP cancel it; trials that have ended are stored. A second signal does not wait
/// for them.
pub(super) async fn execute_watched(
    io: &CliOutput,
    prepared: &PreparedRun,
    handle: &RunHandle,
    player: TrialPlayer<'_>,
) -> Result<RunSummary, StoreError> {
    let cancel = CancellationToken::new();
    let interrupt = cancel.clone();
    let listener = tokio::spawn(async move {
        if crate::signals::stop_requested().await.is_ok() {
            interrupt.cancel();
            crate::signals::exit_on_next_request().await;
        }
    });
    let counts = ProgressCounts::default();
    let mut watcher = ProgressWatcher { counts: &counts };
    let mut line = ProgressLine::new(io, prepared, handle);
    // A line is due even if no trial ends, as with an agent that hangs.
    let period = if line.terminal { REDRAW_INTERVAL } else { LOG_INTERVAL };
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is due at once.
    ticks.tick().await;
    let run = async {
        match player {
            TrialPlayer::ThisProcess => execute(prepared, handle, &mut watcher, cancel).await,
            TrialPlayer::Workers(published, wait) => watch(prepared, handle, published, &mut watcher, (cancel, wait)).await,
        }
    };
    let mut run = std::pin::pin!(run);
    let summary = loop {
        tokio::select! {
            summary = &mut run => break summary,
            _ = ticks.tick() => line.print(&counts),
        }
    };
    line.close(&counts);
    listener.abort();
    summary
}

/// Trials that ended in this process.
#[derive(Debug, Default)]
struct ProgressCounts {
    done: AtomicU64,
    failed: AtomicU64,
}

struct ProgressWatcher<'c> {
    counts: &'c ProgressCounts,
}

impl RunWatcher for ProgressWatcher<'_> {
    fn on_trial_ended(&mut self, trial: &WatchedTrial<'_>) {
        self.counts.done.fetch_add(1, Ordering::Relaxed);
        if trial.outcome == CaseOutcome::Failed {
            self.counts.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn on_trial_in_order(&mut self, _: &WatchedTrial<'_>) -> WatcherDecision {
        WatcherDecision::Continue
    }
}

struct ProgressLine<'r> {
    io: &'r CliOutput,
    prepared: &'r PreparedRun,
    /// Trials that ended before this process started.
    before: u64,
    since_start: Stopwatch,
    has_lines: bool,
    terminal: bool,
}

impl<'r> ProgressLine<'r> {
    fn new(io: &'r CliOutput, prepared: &'r PreparedRun, handle: &RunHandle) -> Self {
        let (since_start, terminal) = (prepared.clock().stopwatch(), std::io::stderr().is_terminal());
        Self { io, prepared, before: handle.ended_before(), since_start, has_lines: false, terminal }
    }

    fn print(&mut self, counts: &ProgressCounts) {
        self.has_lines = true;
        let line = self.text(counts);
        if self.terminal {
            self.io.redraw_message(&line);
        } else {
            self.io.print_message(&line);
        }
    }

    /// Removes the redrawn line; a log keeps its lines and gets the last count.
    fn close(&self, counts: &ProgressCounts) {
        match (self.has_lines, self.terminal) {
            (false, _) => {}
            (true, true) => self.io.redraw_message(""),
            (true, false) => {
                let done = self.before + counts.done.load(Ordering::Relaxed);
                self.io.print_message(&format!("{done} of {} done", model::count(self.planned(), "trial")));
            }
        }
    }

    fn planned(&self) -> u64 {
        self.prepared.plan().outline().len()
    }

    fn text(&self, counts: &ProgressCounts) -> String {
        let (done, failed) = (counts.done.load(Ordering::Relaxed), counts.failed.load(Ordering::Relaxed));
        let left = self.planned().saturating_sub(self.before + done);
        let elapsed = self.since_start.elapsed();
        let pace = if done == 0 {
            format!("running for {}", humantime::format_duration(Duration::from_secs(elapsed.as_secs())))
        } else {
            let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
            let eta = Duration::from_secs((left as f64 / rate).round() as u64);
            format!("{rate:.1} per second, {} left, {failed} failing", humantime::format_duration(eta))
        };
        let spent = self.prepared.funds().budget.spent();
        let spent = if spent == Money::ZERO { String::new() } else { format!(", {spent} USD spent") };
        format!("{} of {}, {pace}{spent}", self.before + done, model::count(self.planned(), "trial"))
    }
}
