//! Arguments of `init` and `tools`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder to create
    #[arg(default_value = "evals")]
    pub dir: PathBuf,
    /// Create the smallest complete workspace instead of a copy of the reference workspace
    #[arg(long, conflicts_with = "from_mcp")]
    pub minimal: bool,
    /// Create a small workspace with the tools of an MCP server, started with this command
    #[arg(long, value_name = "CMD")]
    pub from_mcp: Option<String>,
    /// Environment variables passed to the server, besides PATH and HOME
    #[arg(long, value_name = "NAME", requires = "from_mcp")]
    pub pass_env: Vec<String>,
    /// Write into a folder that is not empty; files of the same name are overwritten
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Export the tool lists that models are given, per profile
    #[command(
        after_help = "Examples:\n  bardo-eval tools export --out tool-lists\n  bardo-eval tools export --profile trader --shape anthropic"
    )]
    Export(ExportArgs),
    /// Import the tools of an MCP server, pinned by hash
    #[command(
        after_help = "Examples:\n  bardo-eval tools import --mcp 'npx -y @modelcontextprotocol/server-everything'\n  bardo-eval tools import --mcp-url http://127.0.0.1:3001/mcp --name local"
    )]
    Import(ImportArgs),
    /// Compare the tools of a server with the imported ones (exit 1 if anything changed)
    Diff(ServerArgs),
    /// Rank the tool pairs of a profile by how easily they are confused
    Confusable(ConfusableArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Only this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// Only this shape
    #[arg(long, value_enum)]
    pub shape: Vec<ToolShape>,
    /// Write <profile>.<shape>.json files to this folder instead of one document to standard output
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolShape {
    Anthropic,
    /// Chat Completions
    OpenaiChat,
    /// Responses
    OpenaiResponses,
    Mcp,
}

#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct ServerArgs {
    /// Start the server with this command and use its standard input and output
    #[arg(long, value_name = "CMD", conflicts_with = "mcp_url", required_unless_present = "mcp_url")]
    pub mcp: Option<String>,
    /// Connect to the server at this URL (streamable HTTP)
    #[arg(long, value_name = "URL")]
    pub mcp_url: Option<String>,
    /// Environment variables passed to the server, besides PATH and HOME
    #[arg(long, value_name = "NAME")]
    pub pass_env: Vec<String>,
    /// Timeout for the server, in seconds
    #[arg(long, value_name = "S", default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub server: ServerArgs,
    /// Name of the tool category and file [default: the server's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfusableArgs {
    /// Only this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// Pairs per profile
    #[arg(long, default_value_t = 10)]
    pub top: usize,
}
