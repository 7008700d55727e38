//! Parts of `collect` and `watch`: the reference of changes, the judge, and the readers of receipts.

use super::models;
use crate::args::ReferenceArgs;
use crate::{env, stored_runs};
use ::run::Clock;
use ::run::providers::CassetteMode;
use ::score::drift::DriftBoard;
use campaign::{DriftReplay, ReceiptFetcher, TraceReviewer, reference_board};
use model::{RpcSource, SamplingKey, UserError, Workspace};
use store::StoreLocation;
use store::production::ProductionStore;

/// Variable with the key of the sample, and its fewest characters.
const SAMPLING_KEY: &str = "BARDO_EVAL_SAMPLING_KEY";
const MIN_KEY: usize = 16;

/// Returns the fold over traces, with the reference run that the arguments or `production.yaml` name.
pub(super) fn drift_replay(workspace: &Workspace, args: &ReferenceArgs) -> Result<DriftReplay, UserError> {
    referred_replay(workspace, args.reference.as_deref(), &args.store.store)
}

/// Returns the fold over traces, with the reference run that is named, or else that of `production.yaml`.
pub(super) fn referred_replay(workspace: &Workspace, named: Option<&str>, runs: &StoreLocation) -> Result<DriftReplay, UserError> {
    let Some(run) = named.or(workspace.production.reference.as_deref()) else {
        let window = workspace.production.reference_window;
        return Ok(
            window.map_or_else(DriftReplay::default, |window| DriftReplay::new(DriftBoard::default().with_past_window(window.seconds())))
        );
    };
    let opened = stored_runs::open_run(runs, Some(run))?;
    Ok(DriftReplay::new(reference_board(&opened.store, opened.run.run)?))
}

/// Reads the key that makes the sample unpredictable for agents.
pub(super) fn read_sampling_key(workspace: &mut Workspace) -> Result<(), UserError> {
    let Some(key) = env::var(SAMPLING_KEY) else { return Ok(()) };
    if key.len() < MIN_KEY {
        let what = format!("{SAMPLING_KEY} has fewer than {MIN_KEY} characters");
        return Err(UserError::new(what, "use a random one, such as the output of `openssl rand -hex 32`, on every replica"));
    }
    workspace.production.sampling.key = SamplingKey::new(&key);
    Ok(())
}

/// Prepares a judge of traces.
pub(super) fn reviewer<'w>(workspace: &'w Workspace, traces: &StoreLocation, judge: &str) -> Result<TraceReviewer<'w>, UserError> {
    let file = models::find_subject(workspace, judge)?;
    let stores = [ProductionStore::open(traces)?, ProductionStore::open(traces)?];
    TraceReviewer::new(workspace, stores, Clock::system(), Box::new(move |config| models::open_judge(file, config, CassetteMode::Off)))
}

/// Prepares the reader of every chain with a node. URLs with keys come from the environment.
pub(super) fn receipt_fetchers(workspace: &Workspace, traces: &StoreLocation) -> Result<Vec<ReceiptFetcher>, UserError> {
    let open = |(chain, source): (&u64, &RpcSource)| {
        let url = match source {
            RpcSource::Url(url) => url.clone(),
            RpcSource::Env(name) => env::var(name).ok_or_else(|| {
                UserError::new(
                    format!("the environment variable {name} is not set"),
                    format!("set it to the URL of a node of chain {chain}"),
                )
            })?,
        };
        ReceiptFetcher::new(workspace, ProductionStore::open(traces)?, *chain, &url)
    };
    workspace.production.rpc.iter().map(open).collect()
}
