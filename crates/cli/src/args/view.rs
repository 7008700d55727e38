//! Arguments of `view`.

use super::production::TracesArgs;
use super::store::StoreArgs;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Run to open first: a prefix of its id or of the hash of its record [default: the list of runs]
    pub run: Option<String>,
    /// Port of the loopback interface [default: a free one]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Open the address in the default browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub traces: TracesArgs,
}
