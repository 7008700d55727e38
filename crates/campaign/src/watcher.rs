//! Observer of a run, for progress and early stopping.

use model::{CaseOutcome, Ending, Trial};

pub trait RunWatcher {
    /// Called when a trial ends, in any order. For progress only.
    fn on_trial_ended(&mut self, _trial: &WatchedTrial<'_>) {}

    /// Called for each trial in plan order, once it and all before it have ended. Only this may stop a run, so that stopping does not
    /// depend on timing.
    fn on_trial_in_order(&mut self, trial: &WatchedTrial<'_>) -> WatcherDecision;
}

/// Finished trial, as passed to a watcher.
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

/// Watcher that does nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoopWatcher;

impl RunWatcher for NoopWatcher {
    fn on_trial_in_order(&mut self, _: &WatchedTrial<'_>) -> WatcherDecision {
        WatcherDecision::Continue
    }
}
