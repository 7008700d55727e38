//! Error for schemas that no values can be generated for.

use std::fmt;

/// Unsupported keyword, or constraints without a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedSchema {
    /// The JSON Schema keyword, such as `not`.
    pub keyword: String,
    /// JSON pointer to the schema object that holds the keyword; empty for the root.
    pub path: String,
    /// The reason, for the author of the schema.
    pub because: String,
}

impl UnsupportedSchema {
    pub(crate) fn new(keyword: &str, path: &str, because: impl Into<String>) -> Self {
        Self { keyword: keyword.into(), path: path.into(), because: because.into() }
    }
}

pub(crate) fn refuse<T>(keyword: &str, path: &str, because: &str) -> Result<T, UnsupportedSchema> {
    Err(UnsupportedSchema::new(keyword, path, because))
}

impl fmt::Display for UnsupportedSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the schema" } else { &self.path };
        write!(f, "cannot generate values for `{}` in {place}: {}", self.keyword, self.because)
    }
}

impl std::error::Error for UnsupportedSchema {}
