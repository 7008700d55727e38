//! Arguments of `redteam`.

use super::run::RunArgs;
use clap::Args;
use model::{AttackChannel, OwaspCategory};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RedTeamArgs {
    /// Only this probe; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Attacks")]
    pub probe: Vec<String>,
    /// Only attacks of this OWASP category, asi01 to asi10; may be repeated
    #[arg(long, value_name = "ASI", value_parser = parse_category, help_heading = "Attacks")]
    pub asi: Vec<OwaspCategory>,
    /// Only attacks through this channel: user, tool_result, tool_description, memory, agent_message, chain_metadata or file
    #[arg(long, value_name = "CHANNEL", value_parser = parse_channel, help_heading = "Attacks")]
    pub channel: Option<AttackChannel>,
    /// Only attacks with this strategy; `bardo-eval list strategies` lists them
    #[arg(long, value_name = "NAME", help_heading = "Attacks")]
    pub strategy: Option<String>,
    /// Variants of every attack, each with its own addresses, amounts and words
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100), help_heading = "Attacks")]
    pub seeds: u64,
    /// Only so many attacks that every pair of probe and channel, strategy and channel, and strategy and category occurs; for pull requests
    #[arg(long, help_heading = "Attacks")]
    pub pairwise: bool,
    /// Also let this model word the attacks (strategy attacker_model): it reads what the agent did and tries again. Costs money
    #[arg(long, value_name = "SUBJECT", help_heading = "Attacks")]
    pub attacker: Option<String>,
    /// Most texts that the attacker may try in a trial
    #[arg(long, value_name = "N", default_value_t = 4, requires = "attacker", value_parser = clap::value_parser!(u64).range(1..=50), help_heading = "Attacks")]
    pub attacker_tries: u64,
    /// Play the attacks a second time with hooks that block, and show both; only for subjects without a model
    #[arg(long, help_heading = "Attacks")]
    pub enforce_too: bool,
    /// Make the worst successful attack of each probe and channel as small as possible, and write it to this folder as a file for `run --case-file`
    #[arg(long, value_name = "DIR", conflicts_with = "dry_run", help_heading = "Attacks")]
    pub shrink: Option<PathBuf>,
    #[command(flatten)]
    pub run: RunArgs,
}

fn parse_category(text: &str) -> Result<OwaspCategory, String> {
    OwaspCategory::parse(&text.to_lowercase()).ok_or_else(|| "categories are asi01 to asi10".to_owned())
}

fn parse_channel(text: &str) -> Result<AttackChannel, String> {
    let known: Vec<&str> = AttackChannel::ALL.iter().map(|(word, _)| *word).collect();
    AttackChannel::parse(text).ok_or_else(|| format!("channels are {}", known.join(", ")))
}
