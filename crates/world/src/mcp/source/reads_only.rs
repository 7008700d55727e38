//! Live server on which nothing may be changed.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{SourceError, ToolSource};
use crate::mcp::printable::printable;

/// Passes reads on, and refuses calls of tools that write.
#[derive(Debug)]
pub struct ReadsOnlySource<S> {
    inner: S,
    writes: BTreeSet<String>,
}

impl<S> ReadsOnlySource<S> {
    /// `writes` are the names of the tools that write.
    pub fn new(inner: S, writes: BTreeSet<String>) -> Self {
        Self { inner, writes }
    }
}

#[async_trait]
impl<S: ToolSource> ToolSource for ReadsOnlySource<S> {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        if self.writes.contains(tool) {
            return Err(SourceError::WriteNotAllowed { tool: printable(tool, 100) });
        }
        self.inner.call(tool, args).await
    }
}
