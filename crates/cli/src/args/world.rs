//! Arguments of `world`.

use super::run::{DefenceArg, ImportedToolArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// Show accounts, balances, allowances, positions and limits of a world
    #[command(after_help = "Examples:\n  bardo-eval world show\n  bardo-eval world show --on base --format json")]
    Show(WorldArgs),
    /// Send one transaction from the agent's account and show its effects; nothing is stored
    #[command(
        after_help = "Examples:\n  bardo-eval world send --on base USDC 'transfer(address,uint256)' 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 250000000\n  bardo-eval world send --on base USDC 'approve(address,uint256)' SwapRouter02 max\n  bardo-eval world send --on base --chain anvil USDC 'transfer(address,uint256)' account 1"
    )]
    Send(SendArgs),
    /// Call one tool and show its answer, events and effects; nothing is stored
    #[command(
        after_help = "Examples:\n  bardo-eval world call data_get_token_price token=WETH chain=base\n  bardo-eval world call uniswap_execute_swap token_in=USDC token_out=WETH amount=250 chain=base\n  bardo-eval world call wallet_transfer_token --args '{\"token\": \"USDC\", \"recipient\": \"0x70997970C51812dc3A010C7d01b50e0d17dc79C8\", \"amount\": \"5\", \"chain_id\": 8453}' --defence enforce"
    )]
    Call(CallArgs),
    /// Serve a world to an agent or a person: tools over MCP, chains over JSON-RPC, pages over HTTP
    #[command(
        after_help = "Examples:\n  bardo-eval world serve --agent trade-executor            # MCP, RPC and pages on a loopback port; ends with Ctrl-C\n  bardo-eval world serve --agent trade-executor --format json  # token and addresses as one JSON document\n  bardo-eval world serve --profile trader --stdio          # MCP on stdin and stdout, for clients that start a command"
    )]
    Serve(ServeArgs),
}

// World that tools act in.
#[derive(Debug, Args)]
pub(crate) struct LiveArgs {
    /// World [default: the first world]
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// Chain backend: embedded, anvil (started by this command), or anvil:URL (a running Anvil or fork of yours, for one chain)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    /// Safety hooks on tool calls: observe reports violations, enforce blocks them. Transactions sent over RPC pass no hooks, only the account's on-chain policy
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    #[command(flatten)]
    pub foreign: ImportedToolArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// Tool, by its name or a former name
    pub tool: String,
    /// Arguments as NAME=VALUE; values that parse as JSON are passed as JSON, except where the tool wants text
    #[arg(value_name = "NAME=VALUE")]
    pub pairs: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "pairs")]
    pub args: Option<String>,
    #[command(flatten)]
    pub live: LiveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Serve the tools and delegations of this agent
    #[arg(long, value_name = "NAME", conflicts_with = "profile")]
    pub agent: Option<String>,
    /// Serve the tools of this profile [default: full]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Speak MCP on stdin and stdout instead of opening a port
    #[arg(long)]
    pub stdio: bool,
    /// Port on 127.0.0.1; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Write the events to this file as JSON lines, each as it happens
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorldArgs {
    /// World [default: the first world]
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// Chain of the world, by name or id [default: all for show, the first for send]
    #[arg(long, value_name = "CHAIN")]
    pub on: Option<String>,
    /// Chain backend: embedded, anvil (started by this command), or anvil:URL (a running Anvil or fork of yours, for one chain)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
}

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// Contract or account to call: a name of the world (USDC, SwapRouter02) or an address
    pub to: String,
    /// Function signature as in Solidity: 'transfer(address,uint256)'; empty for a plain payment
    #[arg(default_value = "")]
    pub function: String,
    /// Function arguments; names of the world resolve to addresses, max to the largest value of the type
    pub args: Vec<String>,
    /// Native coin to send, in wei
    #[arg(long, default_value = "0")]
    pub value: String,
    /// Send directly from the operator's key instead of through the account's policy cage
    #[arg(long)]
    pub direct: bool,
}
