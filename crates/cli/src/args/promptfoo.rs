//! Arguments of `promptfoo`, with the names that promptfoo gives them.

use super::store::StoreArgs;
use clap::{Args, Subcommand, ValueEnum};
use model::Money;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PromptfooArgs {
    /// Config: promptfooconfig.yaml, or JSON. The ending of -o chooses the format of the results: .json, .jsonl, or .xml for JUnit
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Verdicts, scores and exit codes of promptfoo, also where it passes what it did not decide
    #[arg(long, value_enum, value_name = "DIALECT")]
    pub compat: Option<DialectArg>,
    /// Tests in flight at once [default: that of the config, else 4]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub max_concurrency: Option<u64>,
    /// Spending limit in US dollars for models, judges and simulated users; tests beyond it are in error
    #[arg(long, value_name = "USD")]
    pub budget: Option<Money>,
    /// Bypass the cache of model replies
    #[arg(long)]
    pub no_cache: bool,
    /// Bypass the cache and record all model replies in cassettes/, beside the config
    #[arg(long, conflicts_with_all = ["replay", "record_missing"])]
    pub record: bool,
    /// Use recorded model replies only; a missing one is an error
    #[arg(long, conflicts_with = "record_missing")]
    pub replay: bool,
    /// Use recorded model replies, and record the missing ones
    #[arg(long)]
    pub record_missing: bool,
    /// Resume an interrupted run that asked models: the last one, or the one with this id prefix. Replies that were paid are not asked for again
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with = "no_store")]
    pub resume: Option<Option<String>>,
    /// Do not store the run. Runs that ask no model are never stored
    #[arg(long)]
    pub no_store: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Run every test N times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub repeat: Option<u64>,
    /// Variable for every test that does not set it; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub var: Vec<String>,
    /// File with NAME=VALUE lines, for keys, exec: programs and env in templates
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Only the first N tests
    #[arg(short = 'n', long, value_name = "N")]
    pub filter_first_n: Option<usize>,
    /// Only tests with this pattern in their description
    #[arg(long, value_name = "PATTERN")]
    pub filter_pattern: Option<String>,
    /// Only tests START to END, counted from 0, without END
    #[arg(long, value_name = "START:END")]
    pub filter_range: Option<String>,
    /// Only providers with this pattern in id or label
    #[arg(long, visible_alias = "filter-targets", value_name = "PATTERN")]
    pub filter_providers: Option<String>,
    /// Only prompts with this pattern in id or label
    #[arg(long, value_name = "PATTERN")]
    pub filter_prompts: Option<String>,
    /// Only tests that failed or were in error in these results
    #[arg(long, value_name = "RESULTS.json")]
    pub filter_failing: Option<PathBuf>,
    /// Only tests that were in error in these results
    #[arg(long, value_name = "RESULTS.json")]
    pub filter_errors_only: Option<PathBuf>,
    /// Only N tests, drawn at random
    #[arg(long, value_name = "N")]
    pub filter_sample: Option<usize>,
    /// Seed of --filter-sample
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub filter_sample_seed: u64,
    /// Only tests with this metadata; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub filter_metadata: Vec<String>,
    /// Time of one script in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(10..=600_000))]
    pub script_timeout: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArg {
    Promptfoo,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigImport {
    /// Turn a config of promptfoo into a workspace; what cannot be carried over is listed with its line (exit 3)
    #[command(after_help = "Example:\n  bardo-eval import promptfoo promptfooconfig.yaml --out evals")]
    Promptfoo(ConfigImportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigImportArgs {
    /// Config: promptfooconfig.yaml, or JSON
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Folder to create
    #[arg(long, value_name = "DIR", default_value = "evals")]
    pub out: PathBuf,
}
