//! Arguments of `collect` and `watch`.

use super::store::StoreArgs;
use crate::store_location::parse_location;
use clap::Args;
use model::{GateWindow, RpcSource, RpcSourceError};
use std::net::SocketAddr;
use std::path::PathBuf;
use store::StoreLocation;

/// Store of the production traces.
#[derive(Debug, Args)]
pub(crate) struct TracesArgs {
    /// Store of the production traces: a SQLite file, or the URL of a PostgreSQL database (postgres://USER@HOST/DATABASE)
    #[arg(long, value_name = "STORE", env = "BARDO_EVAL_TRACES", hide_env_values = true, default_value = TRACES, value_parser = parse_location)]
    pub traces: StoreLocation,
}

const TRACES: &str = ".bardo-eval/production.sqlite";

#[derive(Debug, Args)]
pub(crate) struct CollectArgs {
    /// Address to listen on; each serves OTLP over HTTP and gRPC. Addresses that other machines can reach need TLS and a token
    #[arg(long, value_name = "ADDR", default_values = ["127.0.0.1:4318", "127.0.0.1:4317"])]
    pub listen: Vec<SocketAddr>,
    #[command(flatten)]
    pub traces: TracesArgs,
    /// Certificate chain, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Send alerts to this URL
    #[arg(long, value_name = "URL")]
    pub webhook: Option<String>,
    /// Append alerts to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub alerts: Option<PathBuf>,
    /// Node of a chain, to read the effects of transactions: CHAIN=URL, or CHAIN=env:NAME for a URL with a key
    #[arg(long, value_name = "CHAIN=URL", value_parser = parse_node)]
    pub rpc: Vec<(u64, RpcSource)>,
    /// Grade a share of the kept traces with this subject, as production.yaml says
    #[arg(long, value_name = "SUBJECT")]
    pub judge: Option<String>,
    #[command(flatten)]
    pub reference: ReferenceArgs,
}

/// Run that traffic is compared with.
#[derive(Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// Compare tools, skills, latency and cost with this run instead of the first traces
    #[arg(long, value_name = "RUN")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub traces: TracesArgs,
    /// Report once and exit with the verdict
    #[arg(long)]
    pub once: bool,
    /// Span of cost, latency and changes: 1h, 24h or 7d; gates have their own
    #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = parse_window)]
    pub window: GateWindow,
    /// Seconds between two reports
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub every: u64,
    /// Grade a share of the kept traces with this subject first, as production.yaml says
    #[arg(long, value_name = "SUBJECT")]
    pub judge: Option<String>,
    #[command(flatten)]
    pub reference: ReferenceArgs,
}

/// Parses `8453=env:BASE_RPC_URL`.
fn parse_node(text: &str) -> Result<(u64, RpcSource), String> {
    let (chain, source) = text.split_once('=').ok_or("expected CHAIN=URL, such as 8453=env:BASE_RPC_URL")?;
    let chain = chain.parse().map_err(|_| "a chain is a number, such as 8453")?;
    let source = source.parse().map_err(|error: RpcSourceError| format!("{error}; {}", error.remedy()))?;
    Ok((chain, source))
}

fn parse_window(word: &str) -> Result<GateWindow, String> {
    let found = GateWindow::ALL.iter().find(|(known, _)| *known == word);
    found.map(|(_, window)| *window).ok_or_else(|| "expected 1h, 24h or 7d".to_owned())
}
