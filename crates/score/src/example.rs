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

    /// Loads a workspace with this many questions, `c0` and on, and one gate.
    #[cfg(test)]
    pub(crate) fn questions(cases: usize, gate: &str) -> Workspace {
        let one = |n: usize| {
            format!(
                "  - id: c{n}\n    brief: {{ surface: {{ profile: trader }}, turns: [\"How much USDC do I have? ({n})\"], world: small }}\n    \
                 expect:\n      calls: {{ any_of: [[{{ tool: wallet_get_balance, args: {{ token: USDC }} }}]] }}\n    \
                 reference: [{{ call: wallet_get_balance, args: {{ token: USDC, chain: base }} }}]\n    tags: [happy_path]\n"
            )
        };
        let suite: String = (0..cases).map(one).collect();
        let example = Self::minimal()
            .with("suites/tool_selection/trader.yaml", &format!("suite: tool_selection\nabout: Many.\ncases:\n{suite}"))
            .with("gates.yaml", &format!("gates:\n  - {gate}\n"));
        example.load().unwrap_or_else(|problems| panic!("{problems:#?}"))
    }
}
