//! Arguments of `collect` and `watch`.

use clap::Args;
use model::GateWindow;
use std::net::SocketAddr;
use std::path::PathBuf;

/// File with the production traces.
#[derive(Debug, Args)]
pub(crate) struct TracesArgs {
    /// SQLite file with the production traces
    #[arg(long, value_name = "FILE", default_value = TRACES)]
    pub traces: PathBuf,
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
}

fn parse_window(word: &str) -> Result<GateWindow, String> {
    let found = GateWindow::ALL.iter().find(|(known, _)| *known == word);
    found.map(|(_, window)| *window).ok_or_else(|| "expected 1h, 24h or 7d".to_owned())
}
