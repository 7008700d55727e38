//! How a finished agent is reached: a command that is started for each trial, or an address that is asked.

use super::ProviderKind;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, list, text};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalAgent {
    pub endpoint: AgentEndpoint,
    /// Variables of our environment that it may see, by name; values are never written down.
    pub env: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEndpoint {
    /// Program and arguments; no shell reads them.
    Command(Vec<String>),
    Url(String),
}

impl ExternalAgent {
    /// What identifies it. What stands behind a command or an address may change without our knowing.
    pub(super) fn identity(&self) -> Value {
        match &self.endpoint {
            AgentEndpoint::Command(command) => json!({ "command": command, "env": self.env }),
            AgentEndpoint::Url(url) => json!({ "url": url, "env": self.env }),
        }
    }
}

pub(super) fn read_external(
    fields: &YamlFields<'_>,
    node: &YamlNode,
    kind: Option<ProviderKind>,
    report: &ProblemReport,
) -> Option<ExternalAgent> {
    let command = fields.optional("command", list(text));
    let url = fields.optional("url", text);
    let env = fields.or_default("env", list(super::read_env_name));
    let wrong = |what: &str, remedy: &str| {
        report.add(node.line, what.to_owned(), remedy.to_owned());
        None
    };
    let (started, asked) = (matches!(kind?, ProviderKind::Process | ProviderKind::Mcp), kind? == ProviderKind::Http);
    match (command, url) {
        (Some(command), None) if started && command.first().is_some_and(|program| !program.is_empty()) => {
            Some(ExternalAgent { endpoint: AgentEndpoint::Command(command), env })
        }
        (None, Some(url)) if asked && is_http_url(&url) => Some(ExternalAgent { endpoint: AgentEndpoint::Url(url), env }),
        (_, _) if started => wrong("this subject needs the command that starts it", "write command: [program, argument, …] and no url"),
        (_, _) if asked => wrong("this subject needs the address it answers at", "write url: http://… and no command"),
        (None, None) if env.is_empty() => None,
        (_, _) => wrong("command, url and env belong to finished agents", "remove them, or use provider: process, http or mcp"),
    }
}

pub(super) fn is_http_url(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
}
