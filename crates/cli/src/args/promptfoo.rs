//! Arguments of `promptfoo`, with the names that promptfoo gives them.

use clap::{Args, ValueEnum};
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
    /// Accepted for promptfoo's sake: replies are never cached here
    #[arg(long)]
    pub no_cache: bool,
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
