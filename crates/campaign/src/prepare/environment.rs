//! Environment that a run may use, read once by the command line.

use model::UserError;
use run::external::HostEnvironment;
use run::providers::{ApiKey, CACHE_TTL_S};
use run::{Clock, SubjectGuard};
use std::path::PathBuf;

/// Promptfoo's name, so that existing set-ups keep their meaning.
const CACHE_TTL_VARIABLE: &str = "PROMPTFOO_CACHE_TTL";

#[derive(Debug, Clone)]
pub struct RunEnvironment {
    pub clock: Clock,
    /// Environment variables, and the folder that relative paths start from.
    pub surroundings: HostEnvironment,
    /// Folder of recorded replies; `None` for the embedded workspace.
    pub cassettes: Option<PathBuf>,
    /// Anvil program in the search path.
    pub anvil: Option<PathBuf>,
    /// Guard in front of the subjects, built from the settings of the run.
    pub guard: Option<SubjectGuard>,
    /// Process id; distinguishes runs that start at the same time.
    pub process: u32,
}

impl RunEnvironment {
    /// Reads an API key from an environment variable.
    pub(super) fn key(&self, name: &str) -> Option<ApiKey> {
        (self.surroundings.variable)(name).as_deref().and_then(ApiKey::new)
    }

    /// Returns the lifetime of a cached reply in seconds.
    ///
    /// # Errors
    /// If the variable is set and no number of seconds.
    pub(crate) fn cache_ttl_s(&self) -> Result<u64, UserError> {
        cache_ttl_s(&self.surroundings.variable)
    }
}

/// Returns the lifetime of a cached reply in seconds, from the environment.
///
/// # Errors
/// If the variable is set and no number of seconds.
pub fn cache_ttl_s(variable: &dyn Fn(&str) -> Option<String>) -> Result<u64, UserError> {
    let Some(text) = variable(CACHE_TTL_VARIABLE) else { return Ok(CACHE_TTL_S) };
    let unreadable = |_| UserError::new(format!("{CACHE_TTL_VARIABLE} is \"{text}\""), "set it to whole seconds, or unset it");
    text.trim().parse().map_err(unreadable)
}
