//! Environment that a run may use, read once by the command line.

use run::Clock;
use run::external::HostEnvironment;
use run::providers::{ApiKey, CACHE_TTL_S};
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct RunEnvironment {
    pub clock: Clock,
    /// Environment variables, and the folder that relative paths start from.
    pub surroundings: HostEnvironment,
    /// Folder of recorded replies; `None` for the embedded workspace.
    pub cassettes: Option<PathBuf>,
    /// Anvil program in the search path.
    pub anvil: Option<PathBuf>,
    /// Process id; distinguishes runs that start at the same time.
    pub process: u32,
}

impl RunEnvironment {
    /// Reads an API key from an environment variable.
    pub(super) fn key(&self, name: &str) -> Option<ApiKey> {
        (self.surroundings.variable)(name).as_deref().and_then(ApiKey::new)
    }

    /// Returns the lifetime of a cached reply in seconds.
    pub(super) fn cache_ttl_s(&self) -> u64 {
        (self.surroundings.variable)("PROMPTFOO_CACHE_TTL").and_then(|text| text.parse().ok()).unwrap_or(CACHE_TTL_S)
    }
}
