//! Files of a workspace in memory. Reading them from disk, within size limits, is up to the caller.

use std::collections::BTreeMap;

/// Contents by relative path (with `/`), in path order, so that results are deterministic.
#[derive(Debug, Clone, Default)]
pub struct WorkspaceFiles {
    entries: BTreeMap<String, String>,
}

impl WorkspaceFiles {
    pub fn insert(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.entries.insert(path.into(), text.into());
    }

    pub fn remove(&mut self, path: &str) -> Option<String> {
        self.entries.remove(path)
    }

    pub fn get(&self, path: &str) -> Option<&str> {
        self.entries.get(path).map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut String)> {
        self.entries.iter_mut().map(|(path, text)| (path.as_str(), text))
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<P: Into<String>, T: Into<String>> FromIterator<(P, T)> for WorkspaceFiles {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(entries: I) -> Self {
        Self { entries: entries.into_iter().map(|(path, text)| (path.into(), text.into())).collect() }
    }
}
