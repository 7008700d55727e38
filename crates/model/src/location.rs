//! File and line of values in the user's files, for error messages.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Line of a workspace file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    pub file: SourceFile,
    pub line: u32,
}

impl Location {
    pub fn new(file: impl Into<String>, line: u32) -> Self {
        Self { file: SourceFile::new(file), line }
    }
}

/// Path of a workspace file. Shared and one pointer wide, because nearly every value of a workspace has a location.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceFile(Arc<String>);

impl SourceFile {
    pub fn new(path: impl Into<String>) -> Self {
        Self(Arc::new(path.into()))
    }
}

impl Deref for SourceFile {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Value with the line it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    pub at: Location,
}

impl<T> Spanned<T> {
    pub fn new(value: T, at: Location) -> Self {
        Self { value, at }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
