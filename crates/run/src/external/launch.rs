//! Command line and environment of an external agent process.

use super::agent_process::AgentHome;
use super::host_environment::HostEnvironment;
use serde_json::json;
use std::io;
use std::path::Path;
use world::endpoints::TrialEndpoints;

/// Environment variables that are always passed through.
const DEFAULT_VARIABLES: &[&str] = &["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT"];

/// Inputs for starting an agent.
#[derive(Debug)]
pub(super) struct LaunchContext<'p> {
    pub(super) edges: &'p TrialEndpoints,
    pub(super) chains: &'p [u64],
    pub(super) home: &'p AgentHome,
    /// Variables that the subject file passes through.
    pub(super) allowed: &'p [String],
}

impl LaunchContext<'_> {
    /// Returns the port of the trial's endpoints.
    pub(super) fn port(&self) -> io::Result<u16> {
        let url = self.edges.mcp_url();
        let port = url.split('/').nth(2).and_then(|host| host.rsplit_once(':')).and_then(|(_, port)| port.parse().ok());
        port.ok_or_else(|| io::Error::other("the endpoints have no port"))
    }

    /// Writes the MCP server config in the common `mcpServers` format and returns its path.
    pub(super) fn write_mcp_config(&self) -> io::Result<String> {
        let headers = json!({ "Authorization": format!("Bearer {}", self.edges.token.as_str()) });
        let server = json!({ "type": "http", "url": self.edges.mcp_url(), "headers": headers });
        let path = self.home.write("mcp.json", &format!("{:#}\n", json!({ "mcpServers": { "bardo-eval": server } })))?;
        Ok(path.display().to_string())
    }

    pub(super) fn environment(&self, host: &HostEnvironment, config: &str) -> Vec<(String, String)> {
        let passed = DEFAULT_VARIABLES.iter().copied().chain(self.allowed.iter().map(String::as_str));
        let home = |name: &str| self.home.path(name).display().to_string();
        let own = [
            ("HOME".to_owned(), home("home")),
            ("TMPDIR".to_owned(), home("tmp")),
            // Python keeps output to a pipe in a buffer, so a move that is not flushed would never arrive.
            ("PYTHONUNBUFFERED".to_owned(), "1".to_owned()),
            ("BARDO_MCP_URL".to_owned(), self.edges.mcp_url()),
            ("BARDO_MCP_TOKEN".to_owned(), self.edges.token.as_str().to_owned()),
            ("BARDO_MCP_CONFIG".to_owned(), config.to_owned()),
            ("BARDO_PAGES_URL".to_owned(), self.edges.pages_url()),
        ];
        let rpc = self.chains.iter().map(|chain| (format!("BARDO_RPC_URL_{chain}"), self.edges.rpc_url(*chain)));
        let mut all: Vec<(String, String)> = own.into_iter().chain(rpc).collect();
        // Variables named by the user come last, so that the real HOME can be passed.
        all.extend(passed.filter_map(|name| (host.variable)(name).map(|value| (name.to_owned(), value))));
        all.extend(host.passed_variables());
        all
    }

    /// Fills in `{mcp_url}`, `{mcp_token}`, `{mcp_config}` and `{prompt}`. Relative paths to files become absolute, because the agent
    /// runs in another folder.
    pub(super) fn command(&self, host: &HostEnvironment, command: &[String], config: &str, prompt: Option<&str>) -> Vec<String> {
        let filled = |word: &String| {
            let word = absolute_if_file(&host.folder, word);
            let word = word.replace("{mcp_url}", &self.edges.mcp_url()).replace("{mcp_token}", self.edges.token.as_str());
            let word = word.replace("{mcp_config}", config);
            // Last, because the prompt itself may contain placeholders.
            prompt.map_or(word.clone(), |prompt| word.replace(PROMPT_PLACEHOLDER, prompt))
        };
        command.iter().map(filled).collect()
    }
}

pub(super) const PROMPT_PLACEHOLDER: &str = "{prompt}";

/// Returns the variables that every program of the user gets.
pub(super) fn passed_by_default(host: &HostEnvironment) -> impl Iterator<Item = (String, String)> {
    DEFAULT_VARIABLES.iter().filter_map(|name| (host.variable)(name).map(|value| ((*name).to_owned(), value)))
}

pub(super) fn absolute_if_file(folder: &Path, word: &str) -> String {
    let path = Path::new(word);
    let relative = path.is_relative() && !word.is_empty() && !word.starts_with('-');
    let there = folder.join(path);
    if relative && there.is_file() { there.display().to_string() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::absolute_if_file;
    use std::path::Path;

    #[test]
    fn relative_paths_of_existing_files_become_absolute() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(absolute_if_file(folder, "src/lib.rs"), folder.join("src/lib.rs").display().to_string());
        for kept in ["node", "src", "--config", "/bin/sh", "src/nothing.rs", ""] {
            assert_eq!(absolute_if_file(folder, kept), kept);
        }
    }
}
