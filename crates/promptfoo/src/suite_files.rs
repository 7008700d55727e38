//! Access to the files that a config names.

/// Files beside a config. Paths are relative to its folder.
pub trait SuiteFiles {
    /// Reads a text file within limits.
    ///
    /// # Errors
    /// A message without the path.
    fn read(&self, path: &str) -> Result<String, String>;

    /// Returns the paths that match a glob, sorted; a path without wildcards matches itself if it exists.
    fn glob(&self, pattern: &str) -> Vec<String>;
}
