//! Output of external agents: telemetry beside the record, so that what an agent logs never makes equal runs differ.

use crate::{Store, StoreError};

/// Output of an external agent in one trial, without secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentOutput {
    /// Bytes on stdout. Zero if nothing arrived, as from a program that does not flush.
    pub stdout_bytes: u64,
    /// End of stderr.
    pub stderr: String,
}

impl Store {
    /// Returns the output of the agent in a trial, if it was an external agent that ran as a program.
    pub fn agent_output(&self, run: i64, n: u64) -> Result<Option<AgentOutput>, StoreError> {
        Ok(self.engine.agent_outputs(run, n, 1)?.into_iter().find(|(position, _)| *position == n).map(|(_, output)| output))
    }
}
