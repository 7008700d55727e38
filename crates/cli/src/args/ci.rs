//! Arguments of `ci`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum CiCommand {
    /// Show the tiers that an event runs, from the table in tiers.yaml
    #[command(
        after_help = "Examples:\n  bardo-eval ci plan --event pull_request --changed evals/tools/wallet.yaml README.md\n  bardo-eval ci plan --event manual --tier 1 --tier 3\n  bardo-eval ci plan --event merge --format github >> \"$GITHUB_OUTPUT\""
    )]
    Plan(CiPlanArgs),
    /// Write .github/workflows/bardo-eval.yml, which runs the tiers of each event on GitHub Actions
    #[command(
        after_help = "Examples:\n  bardo-eval ci github --install-url https://example.com/bardo-eval-linux.tar.gz --install-sha256 9f86d081884c7d65…\n  bardo-eval ci github --subject claude-sonnet --branch main --print\n  bardo-eval ci github --subject 'process:python3 agent.py' --setup 'pip install -r requirements.txt'\n  bardo-eval ci github --install 'cargo install --locked bardo-eval'"
    )]
    Github(CiPipelineArgs),
    /// Write .gitlab-ci.yml, which runs the tiers of each event on GitLab
    #[command(
        after_help = "Examples:\n  bardo-eval ci gitlab --install-url https://example.com/bardo-eval-linux.tar.gz --install-sha256 9f86d081884c7d65…\n  bardo-eval ci gitlab --subject 'mcp:node agent.mjs' --image node:22-bookworm --print > .gitlab/bardo-eval.yml"
    )]
    Gitlab(CiGitlabArgs),
    /// Decide whether a CI job passes, from the exit code and the JSON report of its run
    #[command(
        after_help = "A run that is incomplete (exit 3) passes only with --without-judge, and only if all that it leaves\nundecided are gates and rubrics that need a judge. They are listed as undecided, never as passed.\n\nExample:\n  bardo-eval run --tier 2 --report json=tier-2.json || code=$?\n  bardo-eval ci verdict tier-2.json --tier 2 --exit \"${code:-0}\""
    )]
    Verdict(CiVerdictArgs),
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

/// Options of the files for every CI system.
#[derive(Debug, Args)]
pub(crate) struct CiPipelineArgs {
    /// Subject to evaluate: a subject of the workspace, or an external agent as process:CMD, mcp:CMD, http://…, chat:URL or a2a:URL
    /// [default: the subject of bardo-eval.yaml, else baseline]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Branch that changes are merged into
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub branch: String,
    /// Archive (.tar.gz) with the program [default: the variable BARDO_EVAL_URL of the repository]
    #[arg(long, value_name = "URL", requires = "install_sha256", conflicts_with = "install")]
    pub install_url: Option<String>,
    /// SHA-256 of the archive, checked before it is unpacked [default: the variable BARDO_EVAL_SHA256 of the repository]
    #[arg(long, value_name = "HASH", requires = "install_url")]
    pub install_sha256: Option<String>,
    /// Shell command that installs the program instead of the archive, and adds its folder to $GITHUB_PATH (GitHub) or puts it into $BARDO_EVAL_BIN (GitLab)
    #[arg(long, value_name = "CMD")]
    pub install: Option<String>,
    /// Shell command that installs what an external agent needs; it sees no key
    #[arg(long, value_name = "CMD")]
    pub setup: Option<String>,
    /// Play a few attacks (redteam --pairwise) beside the tiers below 4 also if the subject is a model, which pays for them; other subjects are always attacked
    #[arg(long)]
    pub red_team: bool,
    /// Print the file instead of writing it
    #[arg(long)]
    pub print: bool,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CiGitlabArgs {
    #[command(flatten)]
    pub pipeline: CiPipelineArgs,
    /// Container image of the jobs, with bash, curl, git and tar
    #[arg(long, value_name = "NAME", default_value = "buildpack-deps:bookworm-scm")]
    pub image: String,
}

#[derive(Debug, Args)]
pub(crate) struct CiVerdictArgs {
    /// JSON report that the run wrote
    pub report: PathBuf,
    /// Exit code of the run
    #[arg(long, value_name = "CODE")]
    pub exit: u8,
    /// Tier of the run; a report of another one fails the job
    #[arg(long, value_name = "N")]
    pub tier: Option<u64>,
    /// Accept gates that only a judge can decide as undecided, for a job without the judge's key
    #[arg(long)]
    pub without_judge: bool,
}
