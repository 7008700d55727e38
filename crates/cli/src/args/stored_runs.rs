//! Arguments of `cost`, `show`, `score` and `runs`.

use super::evidence::EvidenceArgs;
use super::report_files::ReportFileArgs;
use super::store::StoreArgs;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// Only runs started on or after this day, such as 2026-11-01
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Case, or trial by id prefix
    #[arg(value_name = "CASE|TRIAL", required_unless_present = "diff")]
    pub what: Option<String>,
    /// Run, by id prefix [default: the last stored run]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Compare two trials; with CASE, that case in two runs
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub diff: Option<Vec<String>>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// Run, by id prefix [default: the last stored run]
    pub run: Option<String>,
    #[command(flatten)]
    pub reports: ReportFileArgs,
    #[command(flatten)]
    pub demands: EvidenceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List all runs, newest first
    #[command(after_help = "Examples:\n  bardo-eval runs list\n  bardo-eval runs list --format json")]
    List(StoreArgs),
    /// Show the settings and results of a run
    #[command(after_help = "Examples:\n  bardo-eval runs show\n  bardo-eval runs show 8d41f0")]
    Show(RunsShowArgs),
    /// Remove runs and everything stored for them
    #[command(after_help = "Example:\n  bardo-eval runs rm 8d41f0 52ab9e")]
    Rm(RunsRemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunsShowArgs {
    /// Run, by id prefix [default: the last stored run]
    pub run: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunsRemoveArgs {
    /// Runs, each by id prefix
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}
