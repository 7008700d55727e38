//! Names of imported tools in a workspace: those of the server, unless another file of the workspace has them.

use model::Workspace;
use std::collections::BTreeMap;
use world::mcp::ServerListing;

/// Names in the workspace of the tools whose own name is taken.
#[derive(Debug, Default)]
pub(crate) struct ToolNames {
    renamed: BTreeMap<String, String>,
}

impl ToolNames {
    /// Returns the names for the tools of a server, which are imported under a category. A tool that was renamed before keeps its name.
    pub(crate) fn new(category: &str, listed: &ServerListing, workspace: Option<&Workspace>) -> Self {
        let Some(workspace) = workspace else { return Self::default() };
        let own = |name: &str| workspace.tools.iter().find(|tool| tool.category == category && tool.server_name() == name);
        let is_taken = |name: &str| workspace.tool(name).is_some_and(|known| known.category != category);
        let offered = |name: &str| listed.tools.iter().any(|tool| tool.name == name);
        let rename = |name: &str| match own(name) {
            Some(known) => known.name.value.clone(),
            None if is_taken(name) => {
                let mut qualified = format!("{category}__{name}");
                while is_taken(&qualified) || offered(&qualified) {
                    qualified.push('_');
                }
                qualified
            }
            None => name.to_owned(),
        };
        let pairs = listed.tools.iter().map(|tool| (tool.name.clone(), rename(&tool.name)));
        Self { renamed: pairs.filter(|(own, renamed)| own != renamed).collect() }
    }

    /// Returns the name of a server's tool in the workspace.
    pub(crate) fn in_workspace<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed.get(name).map_or(name, String::as_str)
    }

    /// Returns the renamed tools: name on the server and name in the workspace.
    pub(crate) fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.renamed.iter().map(|(own, renamed)| (own.as_str(), renamed.as_str()))
    }
}
