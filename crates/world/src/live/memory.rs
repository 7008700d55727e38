//! Notes that agents store in one trial.

use model::transcript::MemoryProvenance;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct TrialMemory {
    entries: Vec<MemoryEntry>,
}

#[derive(Debug, Clone)]
pub(super) struct MemoryEntry {
    pub key: String,
    pub value: Value,
    pub provenance: MemoryProvenance,
}

impl TrialMemory {
    /// Stores a note under its topic and a running number.
    pub(super) fn store(&mut self, topic: &str, value: Value, provenance: MemoryProvenance) -> &MemoryEntry {
        let at = self.entries.len();
        self.entries.push(MemoryEntry { key: format!("{topic}:{}", at + 1), value, provenance });
        &self.entries[at]
    }

    /// Returns the notes, oldest first.
    pub(super) fn entries(&self) -> &[MemoryEntry] {
        &self.entries
    }
}
