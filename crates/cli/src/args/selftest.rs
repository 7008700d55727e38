//! Arguments of `selftest`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Only gates without tolerance, with each fault in a few cases
    #[arg(long)]
    pub quick: bool,
    /// Trials at once [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub concurrency: Option<u64>,
}
