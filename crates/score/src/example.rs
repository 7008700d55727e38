//! Example workspaces for checks: the minimal workspace with one thing changed.

use model::{Files, Problem, Workspace};

macro_rules! minimal {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../examples/minimal/", $path)))),*]
    };
}

/// The smallest complete workspace; `init --minimal` writes it out and every check accepts it.
pub static MINIMAL: &[(&str, &str)] = minimal![
    "agents/desk.md",
    "agents/safety-guardian.md",
    "agents/trader.md",
    "gates.yaml",
    "outputs/trade_result.yaml",
    "outputs/verdict.yaml",
    "policy.yaml",
    "profiles/trader.yaml",
    "registry/base.yaml",
    "skills/send-tokens/SKILL.md",
    "skills/swap/SKILL.md",
    "subjects/baseline.yaml",
    "subjects/echo.yaml",
    "subjects/reference.yaml",
    "suites/behavior/trader.yaml",
    "suites/composition/desk_to_trader.yaml",
    "suites/skills/swap.yaml",
    "suites/tool_selection/trader.yaml",
    "tiers.yaml",
    "tools/wallet.yaml",
    "worlds/small.yaml",
];

#[derive(Debug, Clone)]
pub struct Example {
    files: Files,
    /// What was changed, for `explain`.
    edits: Vec<Edit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub path: &'static str,
    pub from: String,
    pub to: String,
}

impl Example {
    pub fn minimal() -> Self {
        Self { files: MINIMAL.iter().copied().collect(), edits: vec![] }
    }

    /// Replaces the first occurrence of some text. An edit that finds nothing is our own mistake.
    pub fn edit(mut self, path: &'static str, from: &str, to: &str) -> Self {
        let text = self.files.get(path).unwrap_or_else(|| panic!("the minimal workspace has no {path}"));
        assert!(text.contains(from), "{path} does not contain {from:?}");
        let changed = text.replacen(from, to, 1);
        self.files.insert(path, changed);
        self.edits.push(Edit { path, from: from.to_owned(), to: to.to_owned() });
        self
    }

    /// Adds a file.
    pub fn with(mut self, path: &'static str, text: &str) -> Self {
        self.files.insert(path, text);
        self.edits.push(Edit { path, from: String::new(), to: text.to_owned() });
        self
    }

    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    pub fn files(&self) -> &Files {
        &self.files
    }

    pub fn load(&self) -> Result<Workspace, Vec<Problem>> {
        Workspace::load(&self.files)
    }
}
