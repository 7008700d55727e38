//! What a finished agent is given to be started with: the command with its gaps filled, and the few variables it may see.

use super::child::Home;
use serde_json::json;
use std::io;
use std::path::Path;
use world::edges::Edges;

/// Harmless variables that programs need to run at all.
const ALWAYS: &[&str] = &["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT"];

/// Where we were started: what our environment holds, and the folder that relative paths of a command are meant from.
#[derive(Debug, Clone)]
pub struct Surroundings {
    pub variable: fn(&str) -> Option<String>,
    pub folder: std::path::PathBuf,
}

impl Default for Surroundings {
    /// Nothing of the environment, and no folder but the present one.
    fn default() -> Self {
        Self { variable: |_| None, folder: std::path::PathBuf::new() }
    }
}

/// Everything a started agent is told outside of the conversation.
#[derive(Debug)]
pub(super) struct Place<'p> {
    pub(super) edges: &'p Edges,
    pub(super) chains: &'p [u64],
    pub(super) home: &'p Home,
    /// Variables the subject file lets through.
    pub(super) allowed: &'p [String],
}

impl Place<'_> {
    /// The shape in which most agents take the address of a server.
    pub(super) fn config(&self) -> io::Result<String> {
        let headers = json!({ "Authorization": format!("Bearer {}", self.edges.token.as_str()) });
        let server = json!({ "type": "http", "url": self.edges.mcp_url(), "headers": headers });
        let path = self.home.write("mcp.json", &format!("{:#}\n", json!({ "mcpServers": { "bardo-eval": server } })))?;
        Ok(path.display().to_string())
    }

    pub(super) fn environment(&self, around: &Surroundings, config: &str) -> Vec<(String, String)> {
        let passed = ALWAYS.iter().copied().chain(self.allowed.iter().map(String::as_str));
        let home = |name: &str| self.home.path(name).display().to_string();
        let own = [
            ("HOME".to_owned(), home("home")),
            ("TMPDIR".to_owned(), home("tmp")),
            ("BARDO_MCP_URL".to_owned(), self.edges.mcp_url()),
            ("BARDO_MCP_TOKEN".to_owned(), self.edges.token.as_str().to_owned()),
            ("BARDO_MCP_CONFIG".to_owned(), config.to_owned()),
            ("BARDO_PAGES_URL".to_owned(), self.edges.pages_url()),
        ];
        let rpc = self.chains.iter().map(|chain| (format!("BARDO_RPC_URL_{chain}"), self.edges.rpc_url(*chain)));
        let mut all: Vec<(String, String)> = own.into_iter().chain(rpc).collect();
        // What the subject file names comes last, so that it may put the real HOME in place of ours.
        all.extend(passed.filter_map(|name| (around.variable)(name).map(|value| (name.to_owned(), value))));
        all
    }

    /// `{mcp_url}`, `{mcp_token}`, `{mcp_config}` and `{prompt}` are filled in; relative paths to files become absolute, because the
    /// agent works in a folder of its own.
    pub(super) fn command(&self, around: &Surroundings, command: &[String], config: &str, prompt: Option<&str>) -> Vec<String> {
        let filled = |word: &String| {
            let word = absolute(&around.folder, word);
            let word = word.replace("{mcp_url}", &self.edges.mcp_url()).replace("{mcp_token}", self.edges.token.as_str());
            let word = word.replace("{mcp_config}", config);
            // Last, because a prompt may hold anything, the names of gaps included.
            prompt.map_or(word.clone(), |prompt| word.replace(PROMPT, prompt))
        };
        command.iter().map(filled).collect()
    }
}

pub(super) const PROMPT: &str = "{prompt}";

fn absolute(folder: &Path, word: &str) -> String {
    let path = Path::new(word);
    let relative = path.is_relative() && !word.is_empty() && !word.starts_with('-');
    let there = folder.join(path);
    if relative && there.is_file() { there.display().to_string() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::absolute;
    use std::path::Path;

    #[test]
    fn only_files_that_exist_are_made_absolute() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(absolute(folder, "src/lib.rs"), folder.join("src/lib.rs").display().to_string());
        for kept in ["node", "src", "--config", "/bin/sh", "src/nothing.rs", ""] {
            assert_eq!(absolute(folder, kept), kept);
        }
    }
}
