//! Answers generated from output schemas: valid, without meaning, and deterministic for a seed and a call.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::ContentHash;
use serde_json::{Map, Value, json};

use super::passthrough::unknown_tool;
use super::{RemoteTool, SourceError, ToolSource};
use crate::mcp::printable::printable;

#[derive(Debug, Clone)]
pub struct StubSource {
    tools: Vec<RemoteTool>,
    seed: u64,
}

impl StubSource {
    pub fn new(tools: Vec<RemoteTool>, seed: u64) -> Self {
        Self { tools, seed }
    }

    /// Returns the tools without a possible stub and the reason, so that a run can be rejected before it starts.
    pub fn unstubbable_tools(&self) -> BTreeMap<String, SourceError> {
        let attempts = self.tools.iter().map(|remote| (remote.listing.name.clone(), self.generate(remote, &Map::new())));
        attempts.filter_map(|(name, result)| result.err().map(|error| (name, error))).collect()
    }

    fn generate(&self, remote: &RemoteTool, args: &Map<String, Value>) -> Result<Value, SourceError> {
        let tool = printable(&remote.listing.name, 100);
        let Some(schema) = &remote.output_schema else { return Err(SourceError::NoSchema { tool }) };
        let unstubbable = |why: String| SourceError::Unstubbable { tool: tool.clone(), why: printable(&why, 300) };
        let call_hash = ContentHash::of_json(&json!([self.seed, remote.listing.name, args]));
        let seed = u64::from_str_radix(&call_hash.as_str()[..16], 16).unwrap_or_default();
        let value = jsongen::plausible(schema, seed).map_err(|unsupported| unstubbable(unsupported.to_string()))?;
        // The schema may have constraints that the generator does not support.
        let validator = jsonschema::validator_for(schema).map_err(|error| unstubbable(error.to_string()))?;
        match validator.validate(&value) {
            Ok(()) => Ok(value),
            Err(error) => Err(unstubbable(error.to_string())),
        }
    }
}

#[async_trait]
impl ToolSource for StubSource {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        match self.tools.iter().find(|remote| remote.listing.name == tool) {
            None => Err(unknown_tool(tool, &self.tools)),
            Some(remote) => self.generate(remote, args),
        }
    }
}
