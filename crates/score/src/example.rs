//! Example workspaces for checks: the minimal workspace with one thing changed.

use model::{MINIMAL_WORKSPACE, Problem, Workspace, WorkspaceFiles};

#[derive(Debug, Clone)]
pub struct ExampleWorkspace {
    files: WorkspaceFiles,
    /// Edits so far, shown by `explain`.
    edits: Vec<ExampleEdit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleEdit {
    pub path: &'static str,
    pub from: String,
    pub to: String,
}

impl ExampleWorkspace {
    pub fn minimal() -> Self {
        Self { files: MINIMAL_WORKSPACE.iter().copied().collect(), edits: vec![] }
    }

    /// Replaces the first occurrence of `from`.
    ///
    /// # Panics
    /// Panics if the file does not exist or does not contain `from`: examples are fixed in the source.
    pub fn edit(mut self, path: &'static str, from: &str, to: &str) -> Self {
        let text = self.files.get(path).unwrap_or_else(|| panic!("the minimal workspace has no {path}"));
        assert!(text.contains(from), "{path} does not contain {from:?}");
        let changed = text.replacen(from, to, 1);
        self.files.insert(path, changed);
        self.edits.push(ExampleEdit { path, from: from.to_owned(), to: to.to_owned() });
        self
    }

    /// Adds a file.
    pub fn with(mut self, path: &'static str, text: &str) -> Self {
        self.files.insert(path, text);
        self.edits.push(ExampleEdit { path, from: String::new(), to: text.to_owned() });
        self
    }

    pub fn edits(&self) -> &[ExampleEdit] {
        &self.edits
    }

    pub fn files(&self) -> &WorkspaceFiles {
        &self.files
    }

    /// Loads the edited workspace.
    pub fn load(&self) -> Result<Workspace, Vec<Problem>> {
        Workspace::load(&self.files)
    }
}
