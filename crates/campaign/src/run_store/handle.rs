//! Handle of a stored run that is being written.

use super::locked_run::LockedRun;
use super::{RunDestination, RunOrigin, RunStorage, RunStoreError, create_store, timestamp};
use crate::plan::RunPlan;
use crate::prepare::PreparedRun;
use model::{ContentHash, Money, PlanOutline, Score, Transcript};
use run::OpenRun;
use score::outcome::is_run_again;
use std::collections::BTreeSet;
use store::{EndedTrial, Journal, NewRun, RoleSpending, RunLock, Store, StoreError, StoreLocation, StoredRun};
use tokio::sync::oneshot;

/// Journal of a run, and the trials it already has.
#[derive(Debug)]
pub struct RunHandle {
    journal: Journal,
    /// Key of the run in the store.
    run: i64,
    id: String,
    /// UTC, ISO 8601.
    started: String,
    /// Indices of trials that have ended.
    ended: BTreeSet<u64>,
    /// True if an earlier process started the run.
    resumed: bool,
    storage: RunStorage,
    _lock: RunLock,
}

impl RunHandle {
    /// Starts or resumes a run.
    pub fn open(origin: RunOrigin, prepared: &PreparedRun) -> Result<Self, RunStoreError> {
        match origin {
            RunOrigin::New(destination) => Self::begin(&destination, prepared),
            RunOrigin::Resumed(locked) => Self::resume(*locked, prepared),
        }
    }

    /// Starts or resumes a run that others play. Calls in flight are left alone: their workers may be alive.
    pub fn open_to_watch(origin: RunOrigin, prepared: &PreparedRun) -> Result<Self, RunStoreError> {
        match origin {
            RunOrigin::New(destination) => Self::begin(&destination, prepared),
            RunOrigin::Resumed(locked) => Self::continue_run(*locked, prepared),
        }
    }

    /// Starts a new run.
    ///
    /// # Errors
    /// If its store cannot be written: a run that cannot be kept spends nothing.
    pub fn begin(destination: &RunDestination, prepared: &PreparedRun) -> Result<Self, RunStoreError> {
        match destination {
            RunDestination::Store(location) => {
                Self::in_store(location, prepared).map_err(|error| RunStoreError::unusable(location, &error))
            }
            RunDestination::Memory => Self::in_memory(prepared),
        }
    }

    fn in_store(location: &StoreLocation, prepared: &PreparedRun) -> Result<Self, RunStoreError> {
        Self::new(create_store(location)?, prepared, RunStorage::Store)
    }

    /// Starts a run that exists as long as the handle.
    pub fn in_memory(prepared: &PreparedRun) -> Result<Self, RunStoreError> {
        Self::new(Store::open_in_memory()?, prepared, RunStorage::Memory)
    }

    fn new(store: Store, prepared: &PreparedRun, storage: RunStorage) -> Result<Self, RunStoreError> {
        let plan = prepared.plan();
        let settings = &plan.spec().settings;
        let id = run_id(prepared);
        let lock = store.lock_run(&id)?;
        let text = plan.spec().to_stored().map_err(|error| StoreError::Journal(error.to_string()))?;
        let started = timestamp(prepared.clock());
        let run = store.begin_run(&NewRun {
            id: &id,
            started: &started,
            workspace: &plan.workspace().hash,
            claim: &settings.claim,
            settings: &text,
            plan: Some(plan.outline()),
            planned: plan.outline().len(),
            budget: settings.budget.map(Money::as_nanos),
        })?;
        Ok(Self { journal: Journal::new(store)?, run, id, started, ended: BTreeSet::new(), resumed: false, storage, _lock: lock })
    }

    /// Resumes a run. Finished trials are kept; those that were aborted, by an outage or for lack of money, are run again, unless the
    /// subject did harm before.
    ///
    /// # Errors
    /// If the plan differs from the stored one.
    pub fn resume(locked: LockedRun, prepared: &PreparedRun) -> Result<Self, RunStoreError> {
        if plan_difference(&locked.run, prepared.plan()).is_none() {
            locked.store.fail_orphaned_calls(locked.run.run)?;
        }
        Self::continue_run(locked, prepared)
    }

    fn continue_run(locked: LockedRun, prepared: &PreparedRun) -> Result<Self, RunStoreError> {
        let LockedRun { store, run, lock } = locked;
        if let Some(what) = plan_difference(&run, prepared.plan()) {
            return Err(RunStoreError::Changed { run: run.short_id().to_owned(), what });
        }
        store.set_budget(run.run, prepared.plan().spec().settings.budget.map(Money::as_nanos))?;
        let mut ended = BTreeSet::new();
        store.for_each_ended(run.run, |trial| {
            if !is_run_again(&trial.ending, &trial.scores) {
                ended.insert(trial.n);
            }
        })?;
        store.add_telemetry(run.run, "resumed", 1)?;
        let storage = RunStorage::Store;
        Ok(Self {
            journal: Journal::new(store)?,
            run: run.run,
            id: run.id,
            started: run.started,
            ended,
            resumed: true,
            storage,
            _lock: lock,
        })
    }

    pub fn storage(&self) -> RunStorage {
        self.storage
    }

    /// Returns the id of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the short id, which `run --resume` accepts.
    pub fn short_id(&self) -> &str {
        model::short_id(&self.id)
    }

    /// Returns the moment of the first start in UTC, ISO 8601.
    pub fn started(&self) -> &str {
        &self.started
    }

    /// Returns the number of trials that ended before this process started.
    pub fn ended_before(&self) -> u64 {
        self.ended.len() as u64
    }

    /// Returns the money spent by this run; calls in flight count at their ceiling.
    pub fn spent(&self) -> Money {
        let run = self.run;
        let spent = self.journal.read_blocking(move |store| store.total_spending(run).unwrap_or_default());
        Money::from_nanos(spent.unwrap_or_default())
    }

    /// Calls `take` with `into` and every trial that ended, in plan order, and returns `into`.
    pub fn fold_ended<T: Send + 'static>(&self, mut into: T, take: fn(&mut T, &EndedTrial)) -> Result<T, StoreError> {
        let run = self.run;
        self.journal.read_blocking(move |store| store.for_each_ended(run, |ended| take(&mut into, &ended)).map(|()| into))?
    }

    /// Calls `take` with every trial of a plan of this length that ended, in plan order. Few are in memory at once.
    pub fn for_each_ended(&self, planned: u64, mut take: impl FnMut(&EndedTrial)) -> Result<(), StoreError> {
        const BATCH_SIZE: u64 = 1024;
        let (run, mut from) = (self.run, 0);
        while from < planned {
            let batch = from..from + BATCH_SIZE;
            let read = move |store: &Store| {
                let mut found = vec![];
                store.for_each_ended_within(run, batch, |ended| found.push(ended)).map(|()| found)
            };
            self.journal.read_blocking(read)??.iter().for_each(&mut take);
            from += BATCH_SIZE;
        }
        Ok(())
    }

    /// Calls `take` with `into` and the transcript and scores of every trial, in plan order, and returns `into`.
    pub fn fold_transcripts<T: Send + 'static>(
        &self,
        mut into: T,
        take: impl Fn(&mut T, &Transcript, &[Score]) + Send + 'static,
    ) -> Result<T, StoreError> {
        let run = self.run;
        self.journal.read_blocking(move |store| {
            store.for_each_unread(run, |unread| {
                take(&mut into, &unread.transcript()?, &unread.scores()?);
                Ok(())
            })?;
            Ok(into)
        })?
    }

    /// Returns the spending of the run by case, subject and role.
    pub fn spending(&self) -> Result<Vec<RoleSpending>, StoreError> {
        let run = self.run;
        self.journal.read_blocking(move |store| store.spending(run))?
    }

    /// Returns the mean latency of model calls.
    pub fn mean_latency_ms(&self) -> Result<Option<f64>, StoreError> {
        let run = self.run;
        self.journal.read_blocking(move |store| store.mean_latency_ms(run))?
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(crate) fn key(&self) -> i64 {
        self.run
    }

    pub(crate) fn ended(&self) -> &BTreeSet<u64> {
        &self.ended
    }

    /// Returns the connection for a ledger that writes calls into this run.
    pub(crate) fn open_run(&self) -> OpenRun {
        OpenRun { journal: self.journal.clone(), run: self.run, resumed: self.resumed }
    }

    /// Queries the store after all earlier writes are committed.
    pub(crate) async fn query_store<T: Send + 'static>(&self, query: impl FnOnce(&Store) -> T + Send + 'static) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        self.journal.read_with_callback(query, move |found| drop(sender.send(found)));
        receiver.await.map_err(|_| StoreError::Journal("the journal thread ended".into()))
    }
}

/// Returns a new run id; ids differ even for identical plans.
fn run_id(prepared: &PreparedRun) -> String {
    let now = prepared.clock().utc();
    ContentHash::of_text(&format!("{now:?} {} {}", prepared.parts().process, prepared.workspace().hash)).to_string()
}

/// Returns the first difference between a stored run and a plan.
pub(crate) fn plan_difference(run: &StoredRun, plan: &RunPlan) -> Option<&'static str> {
    let old: &PlanOutline = run.plan.as_ref()?;
    let new = plan.outline();
    if old.cases != new.cases {
        Some("the cases differ")
    } else if old.subjects != new.subjects {
        Some("the subjects differ")
    } else if (old.trials, old.seed) != (new.trials, new.seed) {
        Some("trials or seed differ")
    } else if run.claim != plan.spec().settings.claim {
        Some("tier, confidence or rule-out differ")
    } else if run.workspace != plan.workspace().hash {
        Some("the workspace was changed")
    } else {
        None
    }
}
