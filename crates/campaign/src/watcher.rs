//! Notified of every trial that ended, and may stop the run: progress, early stopping, counts.

use model::{CaseOutcome, Ending, Trial};

pub trait RunWatcher {
    /// A trial ended; trials end in any order. For progress only; it decides nothing.
    fn on_trial_ended(&mut self, _trial: &WatchedTrial<'_>) {}

    /// The next trial of the plan and all before it have ended. Only this may stop a run, so that stopping does not depend on which
    /// trial happened to be fast.
    fn on_trial_in_order(&mut self, trial: &WatchedTrial<'_>) -> WatcherDecision;
}

/// A trial that ended.
#[derive(Debug, Clone, Copy)]
pub struct WatchedTrial<'t> {
    pub trial: &'t Trial,
    pub ending: &'t Ending,
    pub outcome: CaseOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatcherDecision {
    Continue,
    Stop,
}

/// Watches nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoopWatcher;

impl RunWatcher for NoopWatcher {
    fn on_trial_in_order(&mut self, _: &WatchedTrial<'_>) -> WatcherDecision {
        WatcherDecision::Continue
    }
}
