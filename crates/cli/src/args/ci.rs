//! Continuous integration.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum CiCommand {
    /// The tiers that an event runs, by the table in tiers.yaml
    #[command(
        after_help = "Examples:\n  bardo-eval ci plan --event pull_request --changed evals/tools/wallet.yaml README.md\n  bardo-eval ci plan --event manual --tier 1 --tier 3\n  bardo-eval ci plan --event merge --format github >> \"$GITHUB_OUTPUT\""
    )]
    Plan(CiPlanArgs),
    /// Write .github/workflows/bardo-eval.yml
    #[command(after_help = "Examples:\n  bardo-eval ci github\n  bardo-eval ci github --subject claude-sonnet --branch main --print")]
    Github(CiGithubArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CiPlanArgs {
    /// pull_request, merge, nightly or manual
    #[arg(long, value_name = "EVENT")]
    pub event: String,
    /// Files that changed; - reads them from standard input [default: everything may have changed]
    #[arg(long, value_name = "FILES", num_args = 0..)]
    pub changed: Option<Vec<String>>,
    /// Only this tier, as asked for by hand
    #[arg(long, value_name = "N")]
    pub tier: Vec<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct CiGithubArgs {
    /// Who is evaluated
    #[arg(long, value_name = "NAME", default_value = "baseline")]
    pub subject: String,
    /// The branch that pull requests are merged to
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub branch: String,
    /// How the workflow gets this program onto its path
    #[arg(
        long,
        value_name = "CMD",
        default_value = "cargo build --release --locked -p bardo-eval && echo \"$PWD/target/release\" >> \"$GITHUB_PATH\""
    )]
    pub install: String,
    /// Print it instead of writing the file
    #[arg(long)]
    pub print: bool,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}
