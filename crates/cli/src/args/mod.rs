//! What a person can type.

mod chat;
mod ci;
mod evidence;
mod golden;
mod list;
mod run;
mod store;
mod stored_runs;
mod tools;
mod world;

pub(crate) use chat::{CalibrateArgs, CaseCommand, CaseNewArgs, ChatArgs, JudgeCommand};
pub(crate) use ci::{CiCommand, CiGithubArgs, CiPlanArgs};
pub(crate) use golden::{GoldenCommand, GoldenDiffArgs, GoldenRunArgs};
pub(crate) use list::{ListArgs, ListTarget};
pub(crate) use run::{DefenceArg, RunArgs, SmokeArgs};
pub(crate) use store::StoreArgs;
pub(crate) use stored_runs::{CostArgs, RunsCommand, ScoreArgs, ShowArgs};
pub(crate) use tools::{ConfusableArgs, ExportArgs, ImportArgs, InitArgs, ServerArgs, ToolShape, ToolsCommand};
pub(crate) use world::{CallArgs, SendArgs, ServeArgs, WorldArgs, WorldCommand};

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

const STYLES: Styles = Styles::styled().header(AnsiColor::Green.on_default().bold()).usage(AnsiColor::Green.on_default().bold());

/// Evaluates LLM-driven DeFi agents before real money is at stake.
#[derive(Debug, Parser)]
#[command(name = "bardo-eval", version, styles = STYLES, max_term_width = 120, after_help = "\
Examples:
  bardo-eval smoke                        check the workspace in ./evals, or the embedded one
  bardo-eval run --subject reference      play every case and judge the gates
  bardo-eval show done_with_link          what happened in a case of the last run, event by event
  bardo-eval init my-evals --minimal      write a small workspace to start from
  bardo-eval explain safety_pipeline      what a check, scorer or gate means

Exit codes: 0 clean, 1 a gate missed or a check failed, 2 wrong usage or files (nothing ran), 3 incomplete.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: CliCommand,
}

#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Folder of the workspace [default: ./evals if it exists, else the embedded one]
    #[arg(long, short = 'w', global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Use the embedded reference workspace even if ./evals exists
    #[arg(long, global = true, conflicts_with = "workspace")]
    pub embedded: bool,
    /// Shape of the result
    #[arg(long, global = true, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Write the result to a file instead of standard output
    #[arg(long, short = 'o', global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = ColorMode::Auto)]
    pub color: ColorMode,
    /// Show everything instead of the first few
    #[arg(long, short = 'v', global = true)]
    pub verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
    Junit,
    Markdown,
    /// Annotations of GitHub Actions, at the file and line of each finding
    Github,
    /// Safety findings for code scanning
    Sarif,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Tier 1: check everything that can be known without calling a model
    #[command(after_help = "Example:\n  bardo-eval smoke --format junit -o smoke.xml")]
    Smoke(SmokeArgs),
    /// Run cases against a subject and judge the gates
    #[command(
        after_help = "Examples:\n  bardo-eval run                          the lexical baseline: no key, no network\n  bardo-eval run --subject reference\n  bardo-eval run --suite behavior --subject reference --format json\n  bardo-eval run --profile trader --dry-run"
    )]
    Run(Box<RunArgs>),
    /// Show what happened in a stored trial, with its scores beside their evidence
    #[command(
        after_help = "Examples:\n  bardo-eval show sell_ether_for_usdc\n  bardo-eval show 3f2a91c07b5e --run 8d41f0 --verbose\n  bardo-eval show --diff 3f2a91c07b5e c7714be09a12\n  bardo-eval show sell_ether_for_usdc --diff 8d41f0 52ab9e"
    )]
    Show(ShowArgs),
    /// List, show and remove the runs that are kept
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Score a stored run again with the scorers and gates of today; nothing is run
    #[command(
        after_help = "Examples:\n  bardo-eval score\n  bardo-eval score 8d41f0 --confidence 0.95 --rule-out 0.05\n  bardo-eval score 8d41f0 --workspace changed-evals"
    )]
    Score(ScoreArgs),
    /// Say which tiers an event of CI runs, or write a workflow that runs them
    #[command(
        subcommand,
        after_help = "Examples:\n  git diff --name-only main... | bardo-eval ci plan --event pull_request --changed -\n  bardo-eval ci github --subject baseline"
    )]
    Ci(CiCommand),
    /// Say what the kept runs cost, by tier, model and suite, and what was saved
    #[command(after_help = "Examples:\n  bardo-eval cost\n  bardo-eval cost --since 2026-11-01 --format json")]
    Cost(CostArgs),
    /// Keep what a run did as the baseline, and see what changed since
    #[command(
        subcommand,
        after_help = "Examples:\n  bardo-eval golden status\n  bardo-eval golden diff --play\n  bardo-eval golden update 8d41f0"
    )]
    Golden(GoldenCommand),
    /// Talk to a subject in a world, one line a turn, and see what it does
    #[command(
        after_help = "Examples:\n  bardo-eval chat --agent trade-executor --subject baseline\n  bardo-eval chat --case sell_ether_for_usdc --subject claude-sonnet\n  echo 'What do I hold?' | bardo-eval chat --profile data --world defi_small --format json"
    )]
    Chat(ChatArgs),
    /// Write cases
    #[command(subcommand)]
    Case(CaseCommand),
    /// Measure whoever judges what no state can show
    #[command(subcommand)]
    Judge(JudgeCommand),
    /// Write a workspace to start from
    #[command(
        after_help = "Examples:\n  bardo-eval init\n  bardo-eval init small --minimal\n  bardo-eval init mine --from-mcp 'npx -y @modelcontextprotocol/server-everything'"
    )]
    Init(InitArgs),
    /// Export, import and compare tool lists
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Look at a world's chains and act on them
    #[command(subcommand)]
    World(WorldCommand),
    /// List what the workspace and this program hold
    List(ListArgs),
    /// Say what a check, scorer or gate means
    Explain {
        /// Its id, as the reports print it
        name: String,
    },
    /// Say what is set up on this machine and what is missing
    Doctor(StoreArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  bardo-eval completions bash > ~/.local/share/bash-completion/completions/bardo-eval")]
    Completions { shell: clap_complete::Shell },
}
