//! A run in its store: begun, or taken up where a process left it.

use crate::request::Request;
use model::{Ending, Outline};
use std::collections::BTreeSet;
use store::{Journal, Lock, NewRun, Run, Store, StoreError};

/// Where a run writes, and what of it is there already.
#[derive(Debug)]
pub struct Kept {
    pub journal: Journal,
    /// Its key in the store.
    pub run: i64,
    /// Places of the plan whose trials have ended.
    pub ended: BTreeSet<u64>,
    /// Whether an earlier process worked on it.
    pub resumed: bool,
    /// Calls that were under way when an earlier process ended.
    pub asked_again: usize,
    /// Nobody else works on it as long as this is held.
    _lock: Lock,
}

/// What is known of a run beside its plan.
#[derive(Debug, Clone, Copy)]
pub struct Label<'l> {
    pub id: &'l str,
    /// UTC, ISO 8601.
    pub started: &'l str,
    /// JSON; handed back on resume.
    pub settings: &'l str,
    /// Nano-dollars.
    pub budget: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum NotResumed {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("run {0} is complete  there is nothing to resume")]
    Complete(String),
    #[error("run {run} was planned from other cases, subjects or trials: {what}  restore them, or start a new run")]
    Changed { run: String, what: &'static str },
    #[error("the journal cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl Kept {
    pub fn begin(store: Store, request: &Request, label: &Label<'_>) -> Result<Self, NotResumed> {
        let Request { workspace, outline, claim, .. } = request;
        let Label { id, started, settings, budget } = *label;
        let lock = store.lock(id)?;
        let workspace = &workspace.hash;
        let new = NewRun { id, started, workspace, claim, settings, plan: Some(outline), planned: outline.len(), budget };
        let run = store.begin(&new)?;
        Ok(Self { journal: Journal::new(store)?, run, ended: BTreeSet::new(), resumed: false, asked_again: 0, _lock: lock })
    }

    /// Nothing is left when it is dropped.
    pub fn in_memory(request: &Request) -> Result<Self, NotResumed> {
        Self::begin(Store::memory()?, request, &Label { id: "memory", started: "", settings: "{}", budget: None })
    }

    /// Takes a run up again. Trials that ended stay; those for which there was no money are run.
    pub fn resume(store: Store, run: &Run, request: &Request) -> Result<Self, NotResumed> {
        if run.record.is_some() {
            return Err(NotResumed::Complete(run.short().to_owned()));
        }
        if let Some(what) = changed(run, request) {
            return Err(NotResumed::Changed { run: run.short().to_owned(), what });
        }
        let lock = store.lock(&run.id)?;
        let asked_again = store.adopt(run.run)?;
        let mut ended = BTreeSet::new();
        store.each_ended(run.run, |trial| {
            if trial.ending != Ending::Unfunded {
                ended.insert(trial.n);
            }
        })?;
        store.count(run.run, "resumed", 1)?;
        Ok(Self { journal: Journal::new(store)?, run: run.run, ended, resumed: true, asked_again, _lock: lock })
    }
}

fn changed(run: &Run, request: &Request) -> Option<&'static str> {
    let old: &Outline = run.plan.as_ref()?;
    let new = &request.outline;
    if old.cases != new.cases {
        Some("the cases differ")
    } else if old.subjects != new.subjects {
        Some("the subjects differ")
    } else if (old.trials, old.seed) != (new.trials, new.seed) {
        Some("trials or seed differ")
    } else if run.claim != request.claim {
        Some("tier, confidence or rule-out differ")
    } else if run.workspace != request.workspace.hash {
        Some("the workspace was changed")
    } else {
        None
    }
}
