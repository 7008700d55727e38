//! Live server of a workspace in which two servers share the name of a tool.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::Workspace;
use serde_json::{Map, Value};

use super::{PassthroughSource, SourceError, ToolSource};
use crate::mcp::printable::printable;

/// Passes calls on under the names of the server. A call of a shared name is passed on only if the server has the pinned tool.
#[derive(Debug)]
pub struct RenamedSource {
    inner: PassthroughSource,
    /// Name on the server and hash of the listing, by the name in the workspace, for shared names.
    shared: BTreeMap<String, (String, String)>,
}

impl RenamedSource {
    pub fn new(inner: PassthroughSource, workspace: &Workspace) -> Self {
        Self { inner, shared: shared_tools(workspace) }
    }
}

fn shared_tools(workspace: &Workspace) -> BTreeMap<String, (String, String)> {
    let is_shared = |tool: &&model::Tool| {
        let same = |other: &&model::Tool| other.server_name() == tool.server_name();
        tool.remote_name.is_some() || workspace.tools.iter().filter(same).count() > 1
    };
    let row = |tool: &model::Tool| {
        let pin = tool.pinned.as_ref()?.value.clone();
        Some((tool.name.value.clone(), (tool.server_name().to_owned(), pin)))
    };
    workspace.tools.iter().filter(is_shared).filter_map(row).collect()
}

#[async_trait]
impl ToolSource for RenamedSource {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        let Some((name, pin)) = self.shared.get(tool) else { return self.inner.call(tool, args).await };
        // The other server has a tool of that name too, so only the pinned one may answer.
        let offers = self.inner.offers();
        if !offers.iter().any(|offer| offer.listing.name == *name && offer.listing.hash().as_str() == pin) {
            let guess = "its server has changed it, or this is another server: run `bardo-eval tools diff`".to_owned();
            return Err(SourceError::UnknownTool { tool: printable(tool, 100), guess });
        }
        let name = name.clone();
        self.inner.call(&name, args).await
    }
}
