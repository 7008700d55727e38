//! Arguments of `cost`, `show`, `score`, `export` and `runs`.

use super::evidence::EvidenceArgs;
use super::logs::LogArgs;
use super::report_files::ReportFileArgs;
use super::store::StoreArgs;
use clap::{Args, Subcommand, ValueEnum};
use model::UserError;
use std::time::{Duration, SystemTime};

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// Only runs started on or after this day: 2026-11-01, a time such as 2026-11-01T12:00:00Z, today or yesterday
    #[arg(long, value_name = "DATE", value_parser = parse_since)]
    pub since: Option<SinceDate>,
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
    /// Run, by id prefix [default: the last stored run], or logs of other frameworks: files, folders, or patterns with * and **
    #[arg(value_name = "RUN|FILE")]
    pub what: Vec<String>,
    #[command(flatten)]
    pub reports: ReportFileArgs,
    #[command(flatten)]
    pub demands: EvidenceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
    // Last: its heading goes on for what follows.
    #[command(flatten)]
    pub logs: LogArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunExportArgs {
    /// Run, by id prefix [default: the last stored run]
    pub run: Option<String>,
    /// Format of the export
    #[arg(long, value_enum)]
    pub to: RunExportFormat,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunExportFormat {
    /// One trial per line, complete; `score` reads it
    Jsonl,
    /// One row per trial and scorer, for pandas, DuckDB and spreadsheets
    Csv,
    /// OTLP/JSON traces by the GenAI conventions, one request per line
    Otlp,
    /// Log of Inspect, for its viewer
    Inspect,
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

/// First day or time of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SinceDate {
    /// UTC, as far as it was given.
    Given(String),
    DaysAgo(u64),
}

impl SinceDate {
    /// Returns the beginning of the range as it sorts among timestamps.
    pub(crate) fn timestamp(&self, now: SystemTime) -> String {
        match self {
            SinceDate::Given(text) => text.clone(),
            SinceDate::DaysAgo(days) => {
                let day = now.checked_sub(Duration::from_secs(days * 24 * 60 * 60)).unwrap_or(SystemTime::UNIX_EPOCH);
                humantime::format_rfc3339_seconds(day).to_string().chars().take(10).collect()
            }
        }
    }
}

fn parse_since(text: &str) -> Result<SinceDate, UserError> {
    match text {
        "today" => return Ok(SinceDate::DaysAgo(0)),
        "yesterday" => return Ok(SinceDate::DaysAgo(1)),
        _ => {}
    }
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    match humantime::parse_rfc3339(&whole) {
        Ok(_) => Ok(SinceDate::Given(text.to_owned())),
        Err(_) => Err(UserError::without_remedy("not a day; write 2026-11-01, today or yesterday")),
    }
}
