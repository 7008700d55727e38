//! `work`: plays trials of runs that `run --workers 0` has published.

mod received_run;
mod work_stop;

use super::run::PROGRAM;
use crate::args::WorkArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{env, report};
use ::run::Clock;
use campaign::{CancellationToken, WorkEnd, WorkerSetup, open_store};
use model::UserError;
use received_run::ReceivedRun;
use std::time::Duration;
use store::postgres::PgTarget;
use store::postgres::queue::{OpenQueue, QueueClient};
use store::{Store, StoreError, StoreLocation};
use tokio::time::sleep;
use work_stop::WorkStop;

/// Time between two looks for a run.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Time without a free trial after which another run is looked for.
const RUN_PATIENCE: Duration = Duration::from_secs(5);

/// Plays trials. `own` is the workspace that the user named; without one, each run brings its own.
pub(crate) fn work(io: &CliOutput, own: Option<&WorkspaceSource>, args: &WorkArgs) -> ExitKind {
    let ended = super::block_on(serve(io, own, args)).unwrap_or_else(|error| Err(WorkStop::Failed(error.to_string(), "")));
    match ended {
        Ok(()) => ExitKind::Clean,
        Err(WorkStop::Refused(errors)) => report::print_refusal(io, "work", &errors),
        Err(WorkStop::Failed(what, remedy)) => {
            io.print_message(&format!("the worker failed: {what}"));
            if !remedy.is_empty() {
                io.print_message(&format!("to do: {remedy}"));
            }
            ExitKind::Incomplete
        }
    }
}

async fn serve(io: &CliOutput, own: Option<&WorkspaceSource>, args: &WorkArgs) -> Result<(), WorkStop> {
    let target = target(args)?;
    // A store that cannot be opened refuses the worker; one that fails later fails it.
    let store = open_store(&args.store.store).map_err(UserError::from)?;
    let client = QueueClient::open(target).map_err(UserError::from)?;
    let drain = drain_on_signal();
    let mut shop = WorkShop { io, args, store, client, setup: setup(args, target), drain, own, current: None };
    let clock = Clock::system();
    let mut idle = clock.stopwatch();
    let mut last_idle = None;
    while !shop.drain.is_cancelled() {
        let open = shop.open_queues().await?;
        // A run without a trial for this worker is tried again only if there is no other.
        let next = open.iter().find(|queue| Some(queue.run) != last_idle).or(open.first());
        let played = clock.stopwatch();
        let end = match next {
            Some(queue) => Some((queue.run, shop.play(queue).await?)),
            None => None,
        };
        // A worker that has waited for a trial all the time returns after its patience.
        if played.elapsed() > RUN_PATIENCE + LOOK_INTERVAL {
            idle = clock.stopwatch();
        }
        match end {
            Some((_, WorkEnd::Drained)) => break,
            Some((run, WorkEnd::Idle)) => {
                last_idle = Some(run);
                if args.once && open.len() <= 1 {
                    break;
                }
            }
            Some((_, WorkEnd::Closed)) => (last_idle, idle) = (None, clock.stopwatch()),
            Some((run, WorkEnd::Outage(outage))) => {
                last_idle = Some(run);
                let (model, fault) = (report::escape_control(&outage.model), report::escape_control(&outage.last_fault));
                io.print_message(&format!("the run was paused: calls of {model} fail with: {fault}"));
            }
            None if args.once => break,
            None => {}
        }
        if args.idle_exit.is_some_and(|limit| idle.elapsed() >= Duration::from_secs(limit)) {
            break;
        }
        if next.is_none() {
            tokio::select! { () = shop.drain.cancelled() => {}, () = sleep(LOOK_INTERVAL) => {} }
        }
    }
    Ok(())
}

fn target(args: &WorkArgs) -> Result<&PgTarget, UserError> {
    match &args.store.store {
        StoreLocation::Postgres(target) => Ok(target),
        StoreLocation::File(path) => {
            let what = format!("workers need a store that machines can share, and {} is a file", path.display());
            Err(UserError::new(what, "name the store of the run, such as --store postgres://USER@HOST/DATABASE"))
        }
    }
}

fn setup(args: &WorkArgs, target: &PgTarget) -> WorkerSetup {
    let host = env::var("HOSTNAME").unwrap_or_else(|| "worker".to_owned());
    WorkerSetup {
        target: target.clone(),
        name: format!("{host}/{}", std::process::id()),
        program: PROGRAM.to_owned(),
        concurrency: usize::try_from(args.concurrency).unwrap_or(1),
        lease: Duration::from_secs(args.lease),
        patience: RUN_PATIENCE,
    }
}

/// Returns a token that the first signal cancels. A second one does not wait for trials in flight.
fn drain_on_signal() -> CancellationToken {
    let drain = CancellationToken::new();
    let asked = drain.clone();
    tokio::spawn(async move {
        if crate::signals::stop_requested().await.is_ok() {
            asked.cancel();
            crate::signals::exit_on_next_request().await;
        }
    });
    drain
}

/// State of a worker between runs.
struct WorkShop<'w> {
    io: &'w CliOutput,
    args: &'w WorkArgs,
    store: Store,
    client: QueueClient,
    setup: WorkerSetup,
    drain: CancellationToken,
    /// Workspace that the user named.
    own: Option<&'w WorkspaceSource>,
    current: Option<ReceivedRun>,
}

impl WorkShop<'_> {
    async fn open_queues(&self) -> Result<Vec<OpenQueue>, StoreError> {
        let client = self.client.clone();
        let open = tokio::task::spawn_blocking(move || client.call_blocking(|connection| connection.open_queues()));
        open.await.unwrap_or_else(|error| Err(StoreError::Journal(error.to_string())))
    }

    /// Plays trials of a run until there are none for this worker.
    async fn play(&mut self, queue: &OpenQueue) -> Result<WorkEnd, WorkStop> {
        if queue.program != PROGRAM {
            return Err(StoreError::OtherProgram { planned: queue.program.clone(), this: PROGRAM.to_owned() }.into());
        }
        if self.current.as_ref().is_none_or(|current| current.run != queue.run) {
            self.current = None;
            let received = ReceivedRun::receive(&self.store, &self.client, queue, (self.own, self.args)).await?;
            let Some(received) = received else { return Ok(WorkEnd::Closed) };
            self.io.print_message(&format!("playing run {}, {} at once", received.short_id, model::count(self.args.concurrency, "trial")));
            for reason in &received.worker.abilities().unable {
                self.io.print_message(&format!("left to other workers: {}", report::escape_control(reason)));
            }
            self.current = Some(received);
        }
        let Some(current) = &self.current else { return Ok(WorkEnd::Closed) };
        Ok(campaign::work(&self.client, &current.worker, &self.setup, &self.drain).await?)
    }
}
