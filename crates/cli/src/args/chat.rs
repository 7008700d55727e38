//! Talking to subjects, writing cases, measuring judges.

use super::run::DefenceArg;
use super::store::StoreArgs;
use clap::{Args, Subcommand};
use model::Money;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Who you talk to: a subject of the workspace, or process:CMD, http:URL, mcp:CMD
    #[arg(long, value_name = "NAME", default_value = "baseline")]
    pub subject: String,
    /// Take the seat, the world and the peers of a case; the conversation is scored by it
    #[arg(long, value_name = "ID", conflicts_with_all = ["agent", "profile", "world", "own_peers"])]
    pub case: Option<String>,
    /// Talk to it in this agent's seat
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Give it the tools of this profile; the conversation ends with its first calls
    #[arg(long, value_name = "NAME", conflicts_with = "agent")]
    pub profile: Option<String>,
    /// Where it acts [default: the first world]
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// The subject plays guardian and assessor itself instead of the policy
    #[arg(long)]
    pub own_peers: bool,
    /// What runs the chains: embedded, or anvil
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    /// Whether safety hooks only note what they would stop, or stop it
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    /// What a model may cost in it, in US dollars
    #[arg(long, value_name = "USD", default_value = "1")]
    pub budget: Money,
    /// Do not keep the conversation
    #[arg(long)]
    pub no_store: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
    /// Ask a judge about labelled examples and say how far it agrees, and what sways it
    #[command(after_help = "Examples:\n  bardo-eval judge calibrate\n  bardo-eval judge calibrate mine.jsonl --judge ollama --format json")]
    Calibrate(CalibrateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Labelled examples, one JSON object a line [default: judge/examples.jsonl of the workspace]
    pub file: Option<PathBuf>,
    /// Who judges: a subject of the workspace with a model
    #[arg(long, value_name = "NAME", default_value = "claude-sonnet")]
    pub judge: String,
    /// What it may cost, in US dollars
    #[arg(long, value_name = "USD", default_value = "2")]
    pub budget: Money,
    /// How many questions are in flight at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub concurrency: u64,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaseCommand {
    /// Draft a case from a stored trial and check it as smoke would
    #[command(
        after_help = "Example:\n  bardo-eval case new --from 8d41f0/3f2a91c0 --id sell_some_ether -o evals/suites/behavior/sell_some_ether.yaml"
    )]
    New(CaseNewArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CaseNewArgs {
    /// The trial, by the beginnings of the ids of its run and of itself
    #[arg(long, value_name = "RUN/TRIAL")]
    pub from: String,
    /// Name of the case [default: the first words that were said]
    #[arg(long, value_name = "NAME")]
    pub id: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}
