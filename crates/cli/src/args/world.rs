//! Worlds: looking at them, acting in them, opening them to others.

use super::run::{DefenceArg, ImportedToolArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// Print accounts, balances, allowances, positions and limits of a world
    #[command(after_help = "Examples:\n  bardo-eval world show\n  bardo-eval world show --on base --format json")]
    Show(WorldArgs),
    /// Send one transaction from the agent's account and see its effects; nothing is kept
    #[command(
        after_help = "Examples:\n  bardo-eval world send --on base USDC 'transfer(address,uint256)' 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 250000000\n  bardo-eval world send --on base USDC 'approve(address,uint256)' SwapRouter02 max\n  bardo-eval world send --on base --chain anvil USDC 'transfer(address,uint256)' account 1"
    )]
    Send(SendArgs),
    /// Call one tool and see its answer, its events and what changed; nothing is kept
    #[command(
        after_help = "Examples:\n  bardo-eval world call data_get_token_price token=WETH chain_id=8453\n  bardo-eval world call uniswap_execute_swap token_in=USDC token_out=WETH amount=250 chain=base\n  bardo-eval world call wallet_transfer_token --args '{\"token\": \"USDC\", \"recipient\": \"0x70997970C51812dc3A010C7d01b50e0d17dc79C8\", \"amount\": \"5\", \"chain_id\": 8453}' --defence enforce"
    )]
    Call(CallArgs),
    /// Start a world for an agent or a person: its tools over MCP, its chains over JSON-RPC, its pages over HTTP
    #[command(
        after_help = "Examples:\n  bardo-eval world serve --agent trade-executor            # MCP, RPC and pages on a loopback port; ends with Ctrl-C\n  bardo-eval world serve --profile trader --stdio          # MCP on stdin and stdout, for clients that start a command"
    )]
    Serve(ServeArgs),
}

// A world in which tools act.
#[derive(Debug, Args)]
pub(crate) struct LiveArgs {
    /// Which world
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// What runs the chain: embedded, or anvil (started here)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    /// Whether safety hooks only note what they would stop, or stop it
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    #[command(flatten)]
    pub foreign: ImportedToolArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool's name or one of its former names
    pub tool: String,
    /// Its arguments as NAME=VALUE; a value that is JSON counts as JSON
    #[arg(value_name = "NAME=VALUE")]
    pub pairs: Vec<String>,
    /// All arguments as one JSON object instead
    #[arg(long, value_name = "JSON", conflicts_with = "pairs")]
    pub args: Option<String>,
    #[command(flatten)]
    pub live: LiveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// In the seat of this agent: its tools and its delegations
    #[arg(long, value_name = "NAME", conflicts_with = "profile")]
    pub agent: Option<String>,
    /// With the tools of this profile [default: full]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Speak MCP on stdin and stdout instead of opening a port
    #[arg(long)]
    pub stdio: bool,
    /// The port on 127.0.0.1 [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Write the events here as JSON lines when it ends
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorldArgs {
    /// Which world
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// Which of its chains, by name or id [default: all for show, the first for send]
    #[arg(long, value_name = "CHAIN")]
    pub on: Option<String>,
    /// What runs the chain: embedded, anvil (started here), or anvil:URL (an empty node of yours)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
}

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// Who is called: a name of the world (USDC, SwapRouter02) or an address
    pub to: String,
    /// The function, as in Solidity: 'transfer(address,uint256)'; empty for a plain payment
    #[arg(default_value = "")]
    pub function: String,
    /// Its arguments; names of the world stand for addresses, max for the largest number
    pub args: Vec<String>,
    /// Native coin sent along, in wei
    #[arg(long, default_value = "0")]
    pub value: String,
    /// Send from the operator's key directly instead of through the account's cage
    #[arg(long)]
    pub direct: bool,
}
