//! Finds the imported tools of a running MCP server, by the name under which it introduces itself.

use model::{Tool, UserError, Workspace};
use std::collections::BTreeSet;

/// Tool file of the workspace with imported tools.
struct ToolImport<'w> {
    category: &'w str,
    tools: Vec<&'w Tool>,
}

impl ToolImport<'_> {
    /// Returns whether the server may answer these tools. A file that names no server fits only if it is the only one.
    fn is_of_server(&self, name: &str, is_only: bool) -> bool {
        self.tools.iter().all(|tool| tool.is_of_server(name).unwrap_or(is_only))
    }

    fn missing<'t>(&'t self, offered: &'t BTreeSet<&str>) -> impl Iterator<Item = &'t str> {
        self.tools.iter().map(|tool| tool.server_name()).filter(move |name| !offered.contains(name))
    }
}

fn imports(workspace: &Workspace) -> Vec<ToolImport<'_>> {
    let mut found: Vec<ToolImport> = vec![];
    for tool in workspace.tools.iter().filter(|tool| tool.is_foreign()) {
        match found.iter_mut().find(|import| import.category == tool.category) {
            Some(import) => import.tools.push(tool),
            None => found.push(ToolImport { category: &tool.category, tools: vec![tool] }),
        }
    }
    found
}

/// Returns the names, in the workspace, of the tools that were imported from the server that introduces itself as `name` and offers these
/// tools.
///
/// # Errors
/// If no import is of this server, if two are, or if the server lacks an imported tool.
pub(super) fn tools_of_server(workspace: &Workspace, name: &str, offered: &BTreeSet<&str>) -> Result<BTreeSet<String>, UserError> {
    let imports = imports(workspace);
    let mut own: Vec<&ToolImport> = imports.iter().filter(|import| import.is_of_server(name, imports.len() == 1)).collect();
    if own.is_empty() {
        return Err(no_import(name, &imports));
    }
    if own.len() > 1 && own.iter().any(|import| import.missing(offered).next().is_none()) {
        // Two servers with one name can be told apart by their tools.
        own.retain(|import| import.missing(offered).next().is_none());
    }
    let missing: BTreeSet<&str> = own.iter().flat_map(|import| import.missing(offered)).collect();
    if !missing.is_empty() {
        let missing = missing.into_iter().collect::<Vec<_>>().join(", ");
        let remedy = "compare it with `bardo-eval tools diff`, then import its tools again with `bardo-eval tools import`";
        return Err(UserError::new(
            format!("the MCP server \"{name}\" has no tool {missing}, which the workspace imported from it"),
            remedy,
        ));
    }
    let mut seen = BTreeSet::new();
    if own.iter().flat_map(|import| &import.tools).any(|tool| !seen.insert(tool.server_name())) {
        let files: Vec<String> = own.iter().map(|import| format!("tools/{}.yaml", import.category)).collect();
        let what = format!("{} are both imported from a server that calls itself \"{name}\"", files.join(" and "));
        let remedy = "give one of the servers another name and import it again, or answer the tools of one in worlds/";
        return Err(UserError::new(what, remedy));
    }
    Ok(own.iter().flat_map(|import| &import.tools).map(|tool| tool.name.value.clone()).collect())
}

fn no_import(name: &str, imports: &[ToolImport]) -> UserError {
    let server = |import: &ToolImport| import.tools.iter().find_map(|tool| tool.server.clone());
    let known: Vec<String> =
        imports.iter().map(|import| server(import).unwrap_or_else(|| format!("tools/{}.yaml", import.category))).collect();
    let what = format!("no tool of the workspace was imported from the MCP server \"{name}\"");
    if known.is_empty() {
        return UserError::new(what, "import its tools first with `bardo-eval tools import`");
    }
    let remedy = "import its tools with `bardo-eval tools import`, or correct `server:` in the tool file if it has a new name";
    UserError::new(format!("{what}; imported were {}", known.join(", ")), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[(&str, &str, &[&str])]) -> std::sync::Arc<Workspace> {
        let mut all = testkit::reference_files().clone();
        for (category, server, tools) in files {
            let tool = |name: &&str| {
                format!(
                    "  - {{ name: {category}_{name}, remote_name: {name}, description: \"Does {name} of {category}.\", capability: read, risk: layer1, \
                     acts: read, pinned: abc, input_schema: {{ type: object }} }}\n"
                )
            };
            let tools: String = tools.iter().map(tool).collect();
            all.insert(format!("tools/{category}.yaml"), format!("category: {category}\n{server}tools:\n{tools}"));
        }
        testkit::load_workspace(&all)
    }

    fn found(workspace: &Workspace, name: &str, offered: &[&str]) -> Result<Vec<String>, String> {
        let found = tools_of_server(workspace, name, &offered.iter().copied().collect());
        found.map(|tools| tools.into_iter().collect()).map_err(|error| format!("{}: {}", error.what, error.remedy))
    }

    #[test]
    fn server_gets_its_own_tools_in_any_version() {
        let two = workspace(&[("desk", "server: desk 1.0\n", &["read", "close"]), ("archive", "server: old archive 2\n", &["read"])]);
        assert_eq!(found(&two, "desk", &["close", "read", "new"]).unwrap(), ["desk_close", "desk_read"]);
        assert_eq!(found(&two, "old archive", &["read", "close"]).unwrap(), ["archive_read"]);
        let unknown = found(&two, "old", &["read"]).unwrap_err();
        assert!(
            unknown.contains("imported from the MCP server \"old\"") && unknown.contains("desk 1.0") && unknown.contains("old archive 2"),
            "{unknown}"
        );
    }

    #[test]
    fn missing_tools_are_named() {
        let one = workspace(&[("desk", "server: desk 1.0\n", &["read", "close", "open"])]);
        let missing = found(&one, "desk", &["read"]).unwrap_err();
        assert!(missing.contains("\"desk\" has no tool close, open") && missing.contains("tools diff"), "{missing}");
    }

    #[test]
    fn servers_of_one_name_are_told_apart_by_their_tools_or_refused() {
        let two = workspace(&[("desk", "server: mcp 1\n", &["read", "close"]), ("archive", "server: mcp 1\n", &["find"])]);
        assert_eq!(found(&two, "mcp", &["read", "close"]).unwrap(), ["desk_close", "desk_read"]);
        let same = workspace(&[("home", "server: files 1\n", &["read"]), ("work", "server: files 1\n", &["read"])]);
        let refused = found(&same, "files", &["read"]).unwrap_err();
        assert!(refused.contains("tools/home.yaml and tools/work.yaml are both") && refused.contains("another name"), "{refused}");
    }

    #[test]
    fn file_without_a_server_fits_only_alone() {
        let one = workspace(&[("desk", "", &["read"])]);
        assert_eq!(found(&one, "anything", &["read"]).unwrap(), ["desk_read"]);
        let two = workspace(&[("desk", "", &["read"]), ("archive", "server: archive 1\n", &["read"])]);
        assert_eq!(found(&two, "archive", &["read"]).unwrap(), ["archive_read"]);
        assert!(found(&two, "desk", &["read"]).unwrap_err().contains("tools/desk.yaml"), "it must say who it is");
    }
}
