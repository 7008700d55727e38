//! Connection to an external agent: a command started for each trial, or a URL.

use super::ProviderKind;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, list, text};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalAgent {
    pub endpoint: AgentEndpoint,
    /// Names of environment variables passed on to it. Values are never stored.
    pub env: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEndpoint {
    /// Program and arguments, run without a shell.
    Command(Vec<String>),
    Url(String),
}

impl ExternalAgent {
    /// Returns the part of [`super::SubjectFile::identity`] for this agent. Changes behind the command or URL are not detected.
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
    let (takes_command, takes_url) = (matches!(kind?, ProviderKind::Process | ProviderKind::Mcp), kind? == ProviderKind::Http);
    match (command, url) {
        (Some(command), None) if takes_command && command.first().is_some_and(|program| !program.is_empty()) => {
            Some(ExternalAgent { endpoint: AgentEndpoint::Command(command), env })
        }
        (None, Some(url)) if takes_url && is_http_url(&url) => Some(ExternalAgent { endpoint: AgentEndpoint::Url(url), env }),
        (_, _) if takes_command => wrong("this subject needs a command", "write command: [program, argument, …] and no url"),
        (_, _) if takes_url => wrong("this subject needs a url", "write url: http://… and no command"),
        (None, None) if env.is_empty() => None,
        (_, _) => wrong("command, url and env are only for external agents", "remove them, or use provider: process, http or mcp"),
    }
}

pub(super) fn is_http_url(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
}
