//! Output of external agents: telemetry beside the record, so that what an agent logs never makes equal runs differ.

use crate::{Store, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

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
        let mut rows = self.connection.prepare_cached("SELECT stdout_bytes, stderr FROM agent_output WHERE run = ?1 AND n = ?2")?;
        let output = rows.query_row(params![run, n], |row| Ok(AgentOutput { stdout_bytes: row.get(0)?, stderr: row.get(1)? }));
        Ok(output.optional()?)
    }
}

/// Replaces the output of a trial, which may have been run before.
pub(crate) fn replace_output(connection: &Connection, (run, n): (i64, u64), output: Option<&AgentOutput>) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM agent_output WHERE run = ?1 AND n = ?2")?.execute(params![run, n])?;
    if let Some(AgentOutput { stdout_bytes, stderr }) = output {
        let sql = "INSERT INTO agent_output (run, n, stdout_bytes, stderr) VALUES (?1, ?2, ?3, ?4)";
        connection.prepare_cached(sql)?.execute(params![run, n, stdout_bytes, stderr])?;
    }
    Ok(())
}
