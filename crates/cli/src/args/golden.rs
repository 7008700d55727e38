//! Arguments of `golden`.

use super::store::StoreArgs;
use clap::{Args, Subcommand};
use model::Money;

#[derive(Debug, Subcommand)]
pub(crate) enum GoldenCommand {
    /// List baselines and why they are stale: model, descriptions, profiles, agents, skills or cases changed
    Status,
    /// Compare a stored run with the baselines; exit 1 if anything changed
    #[command(
        after_help = "Examples:\n  bardo-eval golden diff\n  bardo-eval golden diff 8d41f0 --subject baseline --format json\n  bardo-eval golden diff --judge claude-sonnet --budget 0.5\n  bardo-eval golden diff --calls-only"
    )]
    Diff(GoldenDiffArgs),
    /// Write baselines from a stored run; refused in CI
    #[command(after_help = "Example:\n  bardo-eval golden update 8d41f0")]
    Update(GoldenRunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GoldenRunArgs {
    /// Run, by id prefix [default: the last stored run]
    pub run: Option<String>,
    /// Run every case first and use that run
    #[arg(long = "run-first", alias = "play", conflicts_with = "run")]
    pub play: bool,
    /// Subject to run with --run-first, or to pick from a run with several subjects [default: baseline for --run-first]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GoldenDiffArgs {
    #[command(flatten)]
    pub run: GoldenRunArgs,
    /// Relative tolerance for numbers in arguments
    #[arg(long, value_name = "SHARE", default_value_t = 0.0001)]
    pub tolerance: f64,
    /// Judge of reworded texts: a subject with a model; without it reworded texts are not compared, and the exit is 3
    #[arg(long, value_name = "NAME")]
    pub judge: Option<String>,
    /// Accept reworded texts unread: compare calls, facts and endings only
    #[arg(long, conflicts_with = "judge")]
    pub calls_only: bool,
    /// Cost limit of the judge, in US dollars
    #[arg(long, value_name = "USD", default_value = "1", requires = "judge")]
    pub budget: Money,
    /// Judge calls in flight at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub concurrency: u64,
}
