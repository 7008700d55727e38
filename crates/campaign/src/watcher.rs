//! Whoever wants to know when a trial ended, and may stop the run: progress, early stopping, counts.

use model::{Ending, Trial};

pub trait Watcher {
    /// A trial ended, in whatever order they end. For progress: nothing may be decided by it.
    fn ended(&mut self, _done: &Done<'_>) {}

    /// The next trial of the plan has ended, and all before it. Only this may stop a run, so that stopping does not depend on
    /// which trial happened to be fast.
    fn finished(&mut self, done: &Done<'_>) -> Go;
}

/// A trial that ended.
#[derive(Debug, Clone, Copy)]
pub struct Done<'d> {
    pub trial: &'d Trial,
    pub ending: &'d Ending,
    /// Whether its case passed; absent where nothing can be said.
    pub passed: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    On,
    Stop,
}

/// Watches nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Watcher for Silent {
    fn finished(&mut self, _: &Done<'_>) -> Go {
        Go::On
    }
}
