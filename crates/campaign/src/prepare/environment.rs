//! The machine as far as a run may use it. Read once, by the cli.

use run::Clock;
use run::external::HostEnvironment;
use run::providers::{ApiKey, CACHE_TTL_S};
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct RunEnvironment {
    pub clock: Clock,
    /// Variables, and the folder that relative paths are meant from.
    pub surroundings: HostEnvironment,
    /// Folder of recorded replies; absent for the embedded workspace.
    pub cassettes: Option<PathBuf>,
    /// Anvil in the search path.
    pub anvil: Option<PathBuf>,
    /// Tells runs apart that begin at the same time.
    pub process: u32,
}

impl RunEnvironment {
    /// The key in an environment variable.
    pub(super) fn key(&self, name: &str) -> Option<ApiKey> {
        (self.surroundings.variable)(name).as_deref().and_then(ApiKey::new)
    }

    /// Seconds for which a stored reply is good.
    pub(super) fn cache_ttl_s(&self) -> u64 {
        (self.surroundings.variable)("PROMPTFOO_CACHE_TTL").and_then(|text| text.parse().ok()).unwrap_or(CACHE_TTL_S)
    }
}
