//! Secret of the operator that makes the sample unpredictable for agents.

use std::fmt;

/// Key that is hashed with the id of a trace. Agents choose their ids, so that without a key they know which of them are sampled.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SamplingKey {
    /// Ends with a line break, unless there is no key.
    prefix: String,
}

impl SamplingKey {
    pub const fn none() -> Self {
        Self { prefix: String::new() }
    }

    pub fn new(key: &str) -> Self {
        Self { prefix: format!("{key}\n") }
    }

    /// Returns the text before an id; empty without a key.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

impl fmt::Debug for SamplingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.prefix.is_empty() { "SamplingKey(none)" } else { "SamplingKey" })
    }
}
