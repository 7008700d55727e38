//! Connection to an external agent: a command started for each trial, or a URL.

use super::ProviderKind;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, list, text, unsigned};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalAgent {
    pub endpoint: AgentEndpoint,
    /// Names of environment variables passed on to it. Values are never stored.
    pub env: Vec<String>,
    /// Files and folders that it may read besides its own, as written.
    pub read: Vec<String>,
    /// TCP ports that it may connect to besides ours.
    pub connect: Vec<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEndpoint {
    /// Program and arguments, run without a shell.
    Command(Vec<String>),
    Url(String),
}

impl ExternalAgent {
    /// Returns an agent without grants.
    pub fn new(endpoint: AgentEndpoint) -> Self {
        Self { endpoint, env: vec![], read: vec![], connect: vec![] }
    }

    /// Returns the part of [`super::SubjectFile::identity`] for this agent. Changes behind the command or URL are not detected.
    pub(super) fn identity(&self) -> Value {
        let mut identity = match &self.endpoint {
            AgentEndpoint::Command(command) => json!({ "command": command, "env": self.env }),
            AgentEndpoint::Url(url) => json!({ "url": url, "env": self.env }),
        };
        if !self.read.is_empty() {
            identity["read"] = json!(self.read);
        }
        if !self.connect.is_empty() {
            identity["connect"] = json!(self.connect);
        }
        identity
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
    let read = fields.or_default("read", list(read_path));
    let connect = fields.or_default("connect", list(read_port));
    let has_grants = !read.is_empty() || !connect.is_empty();
    let wrong = |what: &str, remedy: &str| {
        report.add(node.line, what.to_owned(), remedy.to_owned());
        None
    };
    let takes_command = matches!(kind?, ProviderKind::Process | ProviderKind::Mcp);
    let takes_url = matches!(kind?, ProviderKind::Http | ProviderKind::Chat | ProviderKind::A2a);
    match (command, url) {
        (Some(command), None) if takes_command && command.first().is_some_and(|program| !program.is_empty()) => {
            Some(ExternalAgent { endpoint: AgentEndpoint::Command(command), env, read, connect })
        }
        (None, Some(_)) if takes_url && has_grants => {
            wrong("read and connect are only for programs that we start", "remove them: a service has the rights that you gave it")
        }
        (None, Some(url)) if takes_url && is_http_url(&url) => Some(ExternalAgent { env, ..ExternalAgent::new(AgentEndpoint::Url(url)) }),
        (_, _) if takes_command => wrong("this subject needs a command", "write command: [program, argument, …] and no url"),
        (_, _) if takes_url => wrong("this subject needs a url", "write url: http://… and no command"),
        (None, None) if env.is_empty() && !has_grants => None,
        (_, _) => wrong(
            "command, url, env, read and connect are only for external agents",
            "remove them, or use provider: process, mcp, http, chat or a2a",
        ),
    }
}

pub(super) fn is_http_url(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
}

/// Reads a path that the agent may read. Whole trees that hold everything of the user are refused.
fn read_path(node: &YamlNode, report: &ProblemReport) -> Option<String> {
    let written = text(node, report)?;
    let whole = written.trim_end_matches('/');
    if matches!(whole, "" | "~" | "." | "..") {
        report.add(node.line, format!("read grants {} as a whole", node.describe()), "name the files or folders that the agent needs");
        return None;
    }
    Some(written)
}

fn read_port(node: &YamlNode, report: &ProblemReport) -> Option<u16> {
    let port = unsigned(node, report)?;
    let fits = u16::try_from(port).ok().filter(|port| *port > 0);
    if fits.is_none() {
        report.add(node.line, format!("{port} is not a TCP port"), "write a number from 1 to 65535, such as 443");
    }
    fits
}
