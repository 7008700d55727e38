//! Arguments of `ci`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum CiCommand {
    /// Show the tiers that an event runs, from the table in tiers.yaml
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
    /// Event: pull_request, merge, nightly or manual
    #[arg(long, value_name = "EVENT")]
    pub event: String,
    /// Changed files; - reads them from standard input [default: assume that everything changed]
    #[arg(long, value_name = "FILES", num_args = 0..)]
    pub changed: Option<Vec<String>>,
    /// Only this tier; may be repeated
    #[arg(long, value_name = "N")]
    pub tier: Vec<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct CiGithubArgs {
    /// Subject to evaluate
    #[arg(long, value_name = "NAME", default_value = "baseline")]
    pub subject: String,
    /// Branch that pull requests are merged into
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub branch: String,
    /// Shell command that puts this program on the PATH of the workflow
    #[arg(
        long,
        value_name = "CMD",
        default_value = "cargo build --release --locked -p bardo-eval && echo \"$PWD/target/release\" >> \"$GITHUB_PATH\""
    )]
    pub install: String,
    /// Print the workflow instead of writing the file
    #[arg(long)]
    pub print: bool,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
}
