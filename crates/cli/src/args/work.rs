//! Arguments of `work`.

use super::store::StoreArgs;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    /// Trials in flight at once
    #[arg(long, short = 'j', value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub concurrency: u64,
    /// Exit as soon as no run has a trial for this worker
    #[arg(long)]
    pub once: bool,
    /// Exit after so many seconds without a trial
    #[arg(long, value_name = "SECONDS", conflicts_with = "once", value_parser = clap::value_parser!(u64).range(1..))]
    pub idle_exit: Option<u64>,
    /// Seconds without a sign of life after which the trials of this worker return to the queue
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..=3600))]
    pub lease: u64,
    #[command(flatten)]
    pub store: StoreArgs,
}
