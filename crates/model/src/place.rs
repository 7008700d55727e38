//! Where something stands in the user's files, so that every later complaint can name file and line.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A line of a workspace file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub file: Arc<str>,
    pub line: u32,
}

impl Place {
    pub fn new(file: impl Into<Arc<str>>, line: u32) -> Self {
        Self { file: file.into(), line }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A value together with the line it was written on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot<T> {
    pub value: T,
    pub at: Place,
}

impl<T> Spot<T> {
    pub fn new(value: T, at: Place) -> Self {
        Self { value, at }
    }
}

impl<T> Deref for Spot<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
