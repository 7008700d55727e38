//! Plays trials of a published run with the lease of a worker.

use super::abilities::WorkerAbilities;
use super::ask::ask;
use super::shift::{ShiftEnd, WorkShift};
use super::watch::outage_note;
use super::worker_setup::WorkerSetup;
use crate::execute::TrialRunner;
use crate::plan::RunPlan;
use crate::prepare::{PreparedRun, RunEnvironment, prepare_for_worker};
use crate::run_store::plan_difference;
use model::UserError;
use run::QueueLedger;
use run::providers::VendorOutage;
use std::sync::Arc;
use store::postgres::queue::{NewWorker, QueueClient, QueueWriter};
use store::{StoreError, StoredRun};
use tokio_util::sync::CancellationToken;
use world::ForeignSource;

/// Published run, prepared to be played on this machine.
#[derive(Debug)]
pub struct WorkerRun {
    prepared: PreparedRun,
    ledger: Arc<QueueLedger>,
    abilities: WorkerAbilities,
    run: i64,
}

/// End of the work on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkEnd {
    /// There is no trial for this worker at the moment.
    Idle,
    /// The run is over or paused.
    Closed,
    /// The worker was asked to stop, and has finished its trials.
    Drained,
    Outage(VendorOutage),
}

impl WorkerRun {
    /// Prepares a run. A plan that this machine cannot play at all is prepared too, so that the watcher learns the reasons.
    ///
    /// # Errors
    /// If the plan is not that of the stored run.
    pub async fn prepare(
        stored: &StoredRun,
        plan: RunPlan,
        environment: &RunEnvironment,
        foreign: impl Future<Output = Result<ForeignSource, UserError>>,
    ) -> Result<Self, Vec<UserError>> {
        if let Some(what) = plan_difference(stored, &plan) {
            let message = format!("run {} cannot be played here: {what}", stored.short_id());
            return Err(vec![UserError::new(message, "use the program and the workspace that planned it")]);
        }
        let ledger = Arc::new(QueueLedger::new(environment.clock, environment.cache_ttl_s().map_err(|why| vec![why])?));
        let (prepared, abilities) = match prepare_for_worker(plan.clone(), environment, foreign, ledger.clone()).await {
            Ok((prepared, missing)) => {
                let abilities = WorkerAbilities::find(&plan, environment, &missing);
                (prepared, abilities)
            }
            Err(mistakes) => {
                let why = mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                (PreparedRun::for_nothing(plan, environment.clock), WorkerAbilities::none(why))
            }
        };
        Ok(Self { prepared, ledger, abilities, run: stored.run })
    }

    pub fn abilities(&self) -> &WorkerAbilities {
        &self.abilities
    }
}

/// Plays trials of a run until there are none for this worker, the run is over, or `drain` asks to stop. A worker whose lease was taken back
/// drops what it has and starts again with a new lease.
///
/// # Errors
/// If the store cannot be used, or refuses the worker.
pub async fn work(client: &QueueClient, worker: &WorkerRun, setup: &WorkerSetup, drain: &CancellationToken) -> Result<WorkEnd, StoreError> {
    loop {
        match work_with_lease(client, worker, setup, drain).await? {
            ShiftEnd::LeaseLost => {}
            ShiftEnd::Idle => return Ok(WorkEnd::Idle),
            ShiftEnd::Closed => return Ok(WorkEnd::Closed),
            ShiftEnd::Drained => return Ok(WorkEnd::Drained),
            ShiftEnd::Outage(outage) => {
                let (run, note) = (worker.run, outage_note(&outage));
                ask(client, move |connection| connection.pause(run, &note)).await?;
                return Ok(WorkEnd::Outage(outage));
            }
        }
    }
}

async fn work_with_lease(
    client: &QueueClient,
    worker: &WorkerRun,
    setup: &WorkerSetup,
    drain: &CancellationToken,
) -> Result<ShiftEnd, StoreError> {
    let new = NewWorker {
        run: worker.run,
        name: setup.name.clone(),
        program: setup.program.clone(),
        subjects: worker.abilities.subjects.clone(),
        unable: worker.abilities.unable.join("; "),
        lease: setup.lease,
    };
    let lease = match ask(client, move |connection| connection.register(&new)).await {
        Ok(lease) => lease,
        Err(StoreError::NotQueued { .. }) => return Ok(ShiftEnd::Closed),
        Err(error) => return Err(error),
    };
    let target = setup.target.clone();
    let started = tokio::task::spawn_blocking(move || QueueWriter::start(&target, lease)).await;
    let writer = started.map_err(|error| StoreError::Journal(error.to_string()))??;
    worker.ledger.connect(Some(writer.clone()));
    let runner = Arc::new(TrialRunner::new(worker.prepared.clone(), worker.run));
    let shift = WorkShift::new(runner, writer.clone(), setup, &worker.abilities.subjects);
    let end = shift.run(worker.prepared.outages(), worker.prepared.clock(), drain).await;
    worker.ledger.connect(None);
    // The last handle commits what is queued and ends the lease.
    drop(tokio::task::spawn_blocking(move || drop(writer)).await);
    end
}
