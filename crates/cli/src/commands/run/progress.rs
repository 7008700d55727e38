//! Executes a run and shows its progress on standard error: one line that is redrawn on a terminal, else a line every 30 seconds.

use crate::io::CliOutput;
use ::run::Stopwatch;
use campaign::{
    CancellationToken, PreparedRun, PublishedRun, RunHandle, RunSummary, RunWatcher, WatchedTrial, WatcherDecision, execute, watch,
};
use model::{CaseOutcome, Money};
use std::fmt;
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
    let period = if line.terminal { REDRAW_INTERVAL } else { LOG_INTERVAL };
    let run = async {
        match player {
            TrialPlayer::ThisProcess => execute(prepared, handle, &mut watcher, cancel).await,
            TrialPlayer::Workers(published, wait) => watch(prepared, handle, published, &mut watcher, (cancel, wait)).await,
        }
    };
    // A line is due even if no trial ends, as with an agent that hangs.
    let summary = with_ticks(run, period, || line.print(&counts)).await;
    line.close(&counts);
    listener.abort();
    summary
}

/// Waits for the work, and calls `on_tick` each time the period has passed.
async fn with_ticks<T>(work: impl Future<Output = T>, period: Duration, mut on_tick: impl FnMut()) -> T {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is due at once.
    ticks.tick().await;
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => break done,
            _ = ticks.tick() => on_tick(),
        }
    }
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
        let line = self.numbers(counts).to_string();
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

    fn numbers(&self, counts: &ProgressCounts) -> ProgressNumbers {
        ProgressNumbers {
            planned: self.planned(),
            before: self.before,
            done: counts.done.load(Ordering::Relaxed),
            failed: counts.failed.load(Ordering::Relaxed),
            elapsed: self.since_start.elapsed(),
            spent: self.prepared.funds().budget.spent(),
        }
    }
}

/// Numbers of a run under way.
#[derive(Debug, Clone, Copy)]
struct ProgressNumbers {
    planned: u64,
    /// Trials that ended before this process started.
    before: u64,
    /// Trials that ended in this process, and those of them that failed.
    done: u64,
    failed: u64,
    elapsed: Duration,
    spent: Money,
}

/// Writes trials, pace and money in one line.
impl fmt::Display for ProgressNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { planned, before, done, failed, elapsed, spent } = *self;
        write!(f, "{} of {}, ", before + done, model::count(planned, "trial"))?;
        if done == 0 {
            write!(f, "running for {}", humantime::format_duration(Duration::from_secs(elapsed.as_secs())))?;
        } else {
            let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
            let left = planned.saturating_sub(before + done);
            let eta = Duration::from_secs((left as f64 / rate).round() as u64);
            write!(f, "{rate:.1} per second, {} left, {failed} failing", humantime::format_duration(eta))?;
        }
        if spent == Money::ZERO { Ok(()) } else { write!(f, ", {spent} USD spent") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_line_has_pace_failures_and_money() {
        let start =
            ProgressNumbers { planned: 40, before: 0, done: 0, failed: 0, elapsed: Duration::from_millis(61_900), spent: Money::ZERO };
        assert_eq!(start.to_string(), "0 of 40 trials, running for 1m 1s");
        let some =
            ProgressNumbers { done: 10, failed: 3, elapsed: Duration::from_secs(20), spent: Money::from_nanos(1_250_000_000), ..start };
        assert_eq!(some.to_string(), "10 of 40 trials, 0.5 per second, 1m left, 3 failing, 1.25 USD spent");
        // The pace is that of this process, not of the trials before a resume.
        let resumed = ProgressNumbers { before: 20, done: 15, failed: 0, elapsed: Duration::from_secs(10), spent: Money::ZERO, ..some };
        assert_eq!(resumed.to_string(), "35 of 40 trials, 1.5 per second, 3s left, 0 failing");
    }

    #[tokio::test]
    async fn progress_ticks_until_the_work_is_done() {
        let mut ticks = 0;
        let third = tokio::sync::Notify::new();
        let count = || {
            ticks += 1;
            if ticks == 3 {
                third.notify_one();
            }
        };
        with_ticks(third.notified(), Duration::from_millis(50), count).await;
        assert_eq!(ticks, 3);
        let mut ticks = 0;
        with_ticks(std::future::ready(()), Duration::from_secs(3600), || ticks += 1).await;
        assert_eq!(ticks, 0, "no line at the start");
    }
}
