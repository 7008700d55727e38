//! Stored run of a config of another framework: its tests are trials, and its model calls are in the journal, so that it is listed, costed
//! and resumed like other runs.

use crate::prepare::RunFunds;
use crate::run_store::{LockedRun, RunStoreError, create_store, timestamp};
use model::{ContentHash, GateVerdicts, Money, RecordHasher, RunClaim, Score, Transcript, Trial, scores_to_json};
use run::{Clock, OpenRun};
use score::outcome::case_outcome;
use serde_json::json;
use store::{Journal, JournalWrite, NewRun, RunLock, Store, StoreError, StoreLocation, TrialRow};

/// Config as it is stored, without its secrets.
#[derive(Debug, Clone)]
pub struct ConfigPlan {
    /// Name of the file.
    pub config: String,
    /// Hash of everything that decides which calls are made.
    pub hash: ContentHash,
    /// Number of trials.
    pub planned: u64,
    pub budget: Option<Money>,
    pub process: u32,
}

/// Trial of a config that ended.
#[derive(Debug, Clone)]
pub struct ConfigTrial {
    pub trial: Trial,
    pub transcript: Transcript,
    pub scores: Vec<Score>,
    pub wall_us: u64,
}

/// Journal of a config's run.
#[derive(Debug)]
pub struct ConfigRun {
    journal: Journal,
    run: i64,
    id: String,
    clock: Clock,
    planned: u64,
    ended: u64,
    record: Option<RecordHasher>,
    _lock: RunLock,
}

impl ConfigRun {
    /// Starts a run in a store, and connects the budget and the ledger to it.
    ///
    /// # Errors
    /// If it cannot be stored: a run that cannot be kept spends nothing.
    pub fn begin(location: &StoreLocation, plan: &ConfigPlan, funds: &RunFunds, clock: Clock) -> Result<Self, RunStoreError> {
        let store = create_store(location).map_err(|error| RunStoreError::unusable(location, &error))?;
        Self::begin_in(store, plan, funds, clock)
    }

    /// Starts a run that is not kept.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn in_memory(plan: &ConfigPlan, funds: &RunFunds, clock: Clock) -> Result<Self, RunStoreError> {
        Self::begin_in(Store::open_in_memory()?, plan, funds, clock)
    }

    fn begin_in(store: Store, plan: &ConfigPlan, funds: &RunFunds, clock: Clock) -> Result<Self, RunStoreError> {
        let id = ContentHash::of_text(&format!("{:?} {} {}", clock.utc(), plan.process, plan.hash)).to_string();
        let lock = store.lock_run(&id)?;
        let claim = RunClaim::default();
        let run = store.begin_run(&NewRun {
            id: &id,
            started: &timestamp(clock),
            workspace: &plan.hash,
            claim: &claim,
            settings: &json!({ "config": plan.config }).to_string(),
            plan: None,
            planned: plan.planned,
            budget: plan.budget.map(Money::as_nanos),
        })?;
        Self::connected(store, (run, id, lock), plan, (funds, Money::ZERO, false), clock)
    }

    /// Resumes a run: calls that were answered are not sent again, and its spending counts.
    ///
    /// # Errors
    /// If the config differs from that of the run.
    pub fn resume(locked: LockedRun, plan: &ConfigPlan, funds: &RunFunds, clock: Clock) -> Result<Self, RunStoreError> {
        let LockedRun { store, run, lock } = locked;
        if run.workspace != plan.hash || run.planned != plan.planned {
            let what = "the config, its files or the selection of tests differ";
            return Err(RunStoreError::Changed { run: run.short_id().to_owned(), what });
        }
        store.set_budget(run.run, plan.budget.map(Money::as_nanos))?;
        store.fail_orphaned_calls(run.run)?;
        store.add_telemetry(run.run, "resumed", 1)?;
        let spent = Money::from_nanos(store.total_spending(run.run)?);
        Self::connected(store, (run.run, run.id, lock), plan, (funds, spent, true), clock)
    }

    fn connected(
        store: Store,
        (run, id, lock): (i64, String, RunLock),
        plan: &ConfigPlan,
        (funds, spent, resumed): (&RunFunds, Money, bool),
        clock: Clock,
    ) -> Result<Self, RunStoreError> {
        let journal = Journal::new(store)?;
        funds.connect(OpenRun { journal: journal.clone(), run, resumed }, spent)?;
        let record = Some(RecordHasher::new(&RunClaim::default(), &plan.hash));
        Ok(Self { journal, run, id, clock, planned: plan.planned, ended: 0, record, _lock: lock })
    }

    /// Returns the short id, which `--resume` accepts.
    pub fn short_id(&self) -> &str {
        model::short_id(&self.id)
    }

    /// Stores the next trial. Without evidence it leaves the run incomplete.
    pub fn add(&mut self, ended: ConfigTrial) {
        let outcome = case_outcome(&ended.transcript.ending, &ended.scores);
        let (transcript, scores) = (ended.transcript.to_serialized(), scores_to_json(&ended.scores));
        match (ended.transcript.ending.is_scorable(), &mut self.record) {
            (true, Some(record)) => record.add_trial(&ended.trial, &transcript.content_hash, &scores),
            (_, record) => *record = None,
        }
        let n = self.ended;
        self.ended += 1;
        let row = TrialRow { run: self.run, n, trial: ended.trial, outcome, wall_us: ended.wall_us, transcript, scores, output: None };
        self.journal.write(JournalWrite::Trial(Box::new(row)));
    }

    /// Waits until everything is stored, and completes the run if every trial has evidence.
    ///
    /// # Errors
    /// If something could not be stored.
    pub fn finish(self) -> Result<(), RunStoreError> {
        let (run, at) = (self.run, timestamp(self.clock));
        let is_whole = self.ended == self.planned;
        let record = self.record.filter(|_| is_whole).map(|record| record.finish(&[], &[]));
        self.journal.read_blocking(move |store| store.set_verdicts(run, &GateVerdicts::default(), record.as_ref(), &at))??;
        match self.journal.failure() {
            Some(why) => Err(StoreError::Journal(why).into()),
            None => Ok(()),
        }
    }
}
