//! Golden baselines.

use super::store::StoreArgs;
use clap::{Args, Subcommand};
use model::Money;

#[derive(Debug, Subcommand)]
pub(crate) enum GoldenCommand {
    /// Say which baselines are stale: model, descriptions, profiles, agents, skills or cases changed
    Status,
    /// Say what a stored run does otherwise than the baselines; exit 1 where something changed
    #[command(
        after_help = "Examples:\n  bardo-eval golden diff\n  bardo-eval golden diff 8d41f0 --subject baseline --format json\n  bardo-eval golden diff --judge claude-sonnet --budget 0.5"
    )]
    Diff(GoldenDiffArgs),
    /// Make baselines of a stored run; refuses under CI
    #[command(after_help = "Example:\n  bardo-eval golden update 8d41f0")]
    Update(GoldenRunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GoldenRunArgs {
    /// The run, by the beginning of its id [default: the last one kept]
    pub run: Option<String>,
    /// Play every case first and take that run
    #[arg(long, conflicts_with = "run")]
    pub play: bool,
    /// Who is played, or whose trials where a run has several subjects [default: baseline for --play]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GoldenDiffArgs {
    #[command(flatten)]
    pub run: GoldenRunArgs,
    /// How far numbers in arguments may differ, as a share of the larger
    #[arg(long, value_name = "SHARE", default_value_t = 0.0001)]
    pub tolerance: f64,
    /// Who is asked whether texts in other words say the same: a subject with a model; without one they are counted
    #[arg(long, value_name = "NAME")]
    pub judge: Option<String>,
    /// What the judge may cost, in US dollars
    #[arg(long, value_name = "USD", default_value = "1", requires = "judge")]
    pub budget: Money,
    /// How many questions are in flight at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub concurrency: u64,
}
