//! Commands about runs that are kept, and where they are.

use super::evidence::EvidenceArgs;
use super::store::StoreArgs;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// Only runs begun on or after this day, such as 2026-11-01
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A case, or a trial by the beginning of its id
    #[arg(value_name = "CASE|TRIAL", required_unless_present = "diff")]
    pub what: Option<String>,
    /// In this run, by the beginning of its id [default: the last one kept]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Compare two trials; after a CASE, that case in two runs
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub diff: Option<Vec<String>>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// The run, by the beginning of its id [default: the last one kept]
    pub run: Option<String>,
    #[command(flatten)]
    pub demands: EvidenceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// All runs, newest first
    #[command(after_help = "Examples:\n  bardo-eval runs list\n  bardo-eval runs list --format json")]
    List(StoreArgs),
    /// What one run was asked for and what it came to
    #[command(after_help = "Examples:\n  bardo-eval runs show\n  bardo-eval runs show 8d41f0")]
    Show(RunsShowArgs),
    /// Remove runs with all that is kept of them
    #[command(after_help = "Example:\n  bardo-eval runs rm 8d41f0 52ab9e")]
    Rm(RunsRemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunsShowArgs {
    /// The run, by the beginning of its id [default: the last one begun]
    pub run: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunsRemoveArgs {
    /// The runs, each by the beginning of its id
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}
