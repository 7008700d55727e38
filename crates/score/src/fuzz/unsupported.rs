//! What a schema says that no values can be made for: named, never skipped.

use std::fmt;

/// A keyword this generator does not understand, or constraints nothing satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The JSON Schema keyword, such as `$ref`.
    pub keyword: String,
    /// JSON pointer into the schema to the object holding the keyword; empty for the schema itself.
    pub path: String,
    /// Why, in words for the author of the schema.
    pub because: String,
}

impl Unsupported {
    pub(super) fn new(keyword: &str, path: &str, because: impl Into<String>) -> Self {
        Self { keyword: keyword.into(), path: path.into(), because: because.into() }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the schema" } else { &self.path };
        write!(f, "cannot generate values for `{}` in {place}: {}", self.keyword, self.because)
    }
}

impl std::error::Error for Unsupported {}
