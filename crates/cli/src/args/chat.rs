//! Arguments of `chat`, `judge` and `case`.

use super::evidence::parse_share;
use super::production::TracesArgs;
use super::run::{DefenceArg, ImportedToolArgs};
use super::store::StoreArgs;
use clap::{Args, Subcommand};
use launcher::SandboxMode;
use model::Money;
use score::questions::AgreementBounds;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Subject to talk to: a subject of the workspace, or process:CMD, mcp:CMD, http:URL, chat:URL, a2a:URL
    #[arg(long, value_name = "NAME", default_value = "baseline")]
    pub subject: String,
    /// Use the agent, world and peers of this case; the conversation is scored against it
    #[arg(long, value_name = "ID", conflicts_with_all = ["agent", "profile", "world", "own_peers"])]
    pub case: Option<String>,
    /// Agent that the subject plays
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Tool profile given to the subject; the conversation ends with its first calls
    #[arg(long, value_name = "NAME", conflicts_with = "agent")]
    pub profile: Option<String>,
    /// World to act in [default: the first world]
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// Let the subject play guardian and assessor itself instead of the policy
    #[arg(long)]
    pub own_peers: bool,
    /// Chain backend: embedded or anvil
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    #[command(flatten)]
    pub foreign: ImportedToolArgs,
    /// Safety hooks: observe reports violations, enforce blocks them
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    /// Confinement of agents that are programs: landlock, bwrap or none [default: landlock where the kernel has it]
    #[arg(long, value_name = "MODE")]
    pub sandbox: Option<SandboxMode>,
    /// Cost limit for model calls, in US dollars
    #[arg(long, value_name = "USD", default_value = "1")]
    pub budget: Money,
    /// Do not store the conversation
    #[arg(long)]
    pub no_store: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
    /// Measure a judge on labelled examples: agreement, kappa, order and length bias
    #[command(after_help = "Examples:\n  bardo-eval judge calibrate\n  bardo-eval judge calibrate mine.jsonl --judge ollama --format json")]
    Calibrate(CalibrateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Labelled examples, one JSON object per line [default: judge/examples.jsonl of the workspace]
    pub file: Option<PathBuf>,
    /// Judge to calibrate: a subject of the workspace with a model
    #[arg(long, value_name = "NAME", default_value = "claude-sonnet")]
    pub judge: String,
    /// Least share of examples judged as labelled; below it the exit code is 1
    #[arg(long, value_name = "SHARE", default_value_t = AgreementBounds::DEFAULT.agreement, value_parser = parse_share)]
    pub min_agreement: f64,
    /// Least kappa, the agreement beyond chance; below it the exit code is 1
    #[arg(long, value_name = "KAPPA", default_value_t = AgreementBounds::DEFAULT.kappa, value_parser = parse_share)]
    pub min_kappa: f64,
    /// Cost limit, in US dollars
    #[arg(long, value_name = "USD", default_value = "2")]
    pub budget: Money,
    /// Judge calls in flight at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub concurrency: u64,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaseCommand {
    /// Draft a case from a stored trial or a production trace and run the smoke checks on it
    #[command(
        after_help = "Examples:\n  bardo-eval case new --from 8d41f0/3f2a91c0 --id sell_some_ether -o evals/suites/behavior/sell_some_ether.yaml\n  bardo-eval case new --trace 0af7651916cd43dd8448eb211c80319c -o evals/suites/behavior/incident.yaml"
    )]
    New(CaseNewArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CaseNewArgs {
    /// Trial to draft from, by id prefixes of its run and of itself
    #[arg(long, value_name = "RUN/TRIAL", required_unless_present = "trace")]
    pub from: Option<String>,
    /// Kept production trace to draft from, with the answers of its tools as fixtures
    #[arg(long, value_name = "ID", conflicts_with = "from")]
    pub trace: Option<String>,
    #[command(flatten)]
    pub traces: TracesArgs,
    /// Id of the case [default: the first words of the user]
    #[arg(long, value_name = "NAME")]
    pub id: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}
