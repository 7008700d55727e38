//! Settings of evidence from outside a trace: nodes of chains, own wallets, and a judge.

use super::{read_dollars, read_share};
use crate::money::Money;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, map, text};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Address of a chain's node. A key stands in the environment, never in a file or on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RpcSource {
    /// Variable that holds the URL.
    Env(String),
    Url(String),
}

/// Text that is not an address of a node, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RpcSourceError {
    #[error("expected http://, https:// or env:NAME")]
    NotAUrl,
    #[error("the URL carries a user, a query or a key")]
    Secret,
}

impl RpcSourceError {
    pub fn remedy(self) -> &'static str {
        match self {
            RpcSourceError::NotAUrl => "write http://127.0.0.1:8545, or env:BASE_RPC_URL to read the URL from the environment",
            RpcSourceError::Secret => "put the URL into an environment variable and write env:NAME",
        }
    }
}

/// Longest part of a path that is taken for a name; keys of vendors are longer.
const MAX_NAME: usize = 20;

impl FromStr for RpcSource {
    type Err = RpcSourceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(name) = text.strip_prefix("env:") {
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            return if is_name { Ok(RpcSource::Env(name.to_owned())) } else { Err(RpcSourceError::NotAUrl) };
        }
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")).ok_or(RpcSourceError::NotAUrl)?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if host.is_empty() {
            return Err(RpcSourceError::NotAUrl);
        }
        let has_secret = rest.contains(['@', '?', '#']) || path.split('/').any(|part| part.len() > MAX_NAME);
        if has_secret { Err(RpcSourceError::Secret) } else { Ok(RpcSource::Url(text.to_owned())) }
    }
}

/// Part of the kept traces that a judge grades.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedShare {
    /// Share of the kept traces, between 0 and 1, chosen by a hash of the trace id.
    pub share: f64,
    /// Most that the judge may cost in a day, UTC.
    pub usd_per_day: Money,
    /// Requirement that the judge grades against.
    pub rubric: String,
}

pub(super) fn read_nodes(node: &YamlNode, report: &ProblemReport) -> Option<BTreeMap<u64, RpcSource>> {
    let read = map(read_source)(node, report)?;
    let mut nodes = BTreeMap::new();
    for (chain, source) in read {
        match chain.parse() {
            Ok(chain) => drop(nodes.insert(chain, source)),
            Err(_) => report.add(node.line, format!("\"{chain}\" is not the id of a chain"), "write 8453: env:BASE_RPC_URL"),
        }
    }
    Some(nodes)
}

fn read_source(node: &YamlNode, report: &ProblemReport) -> Option<RpcSource> {
    match text(node, report)?.parse::<RpcSource>() {
        Ok(source) => Some(source),
        Err(error) => {
            report.add(node.line, error.to_string(), error.remedy());
            None
        }
    }
}

pub(super) fn read_judge(node: &YamlNode, report: &ProblemReport) -> Option<JudgedShare> {
    let fields = YamlFields::open(node, "judge", report)?;
    let share = fields.required("share", read_share);
    let usd_per_day = fields.required("usd_per_day", read_dollars);
    let rubric = fields.required("rubric", text).filter(|rubric| !rubric.is_empty());
    fields.close();
    Some(JudgedShare { share: share?, usd_per_day: usd_per_day?, rubric: rubric? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_nodes_stay_in_the_environment() {
        assert_eq!("env:BASE_RPC_URL".parse(), Ok(RpcSource::Env("BASE_RPC_URL".into())));
        for url in ["http://127.0.0.1:8545", "https://node.example/base/rpc"] {
            assert_eq!(url.parse(), Ok(RpcSource::Url(url.into())));
        }
        for url in
            ["https://user:word@node.example", "https://node.example/?key=abc", "https://node.example/v3/0123456789abcdef0123456789abcdef"]
        {
            assert_eq!(url.parse::<RpcSource>(), Err(RpcSourceError::Secret), "{url}");
        }
        for text in ["", "env:", "env:A B", "file:///etc/passwd", "https:///x", "node.example"] {
            assert_eq!(text.parse::<RpcSource>(), Err(RpcSourceError::NotAUrl), "{text}");
        }
    }
}
