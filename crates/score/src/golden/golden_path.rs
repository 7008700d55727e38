//! Path of a golden baseline: one file per profile and kind of suite.

use model::suite::{Case, CaseSurface};
use model::{SuiteKind, Tool, Workspace};

/// Profile and kind of suite. Agents and skills use the whole catalogue, so their profile is `all`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldenPath {
    pub profile: String,
    pub kind: SuiteKind,
}

const ALL: &str = "all";

impl GoldenPath {
    pub fn of(case: &Case) -> Self {
        let profile = match &case.brief.surface {
            CaseSurface::Profile(name) => name.value.clone(),
            CaseSurface::Agent(_) | CaseSurface::Skills => ALL.to_owned(),
        };
        Self { profile, kind: case.kind }
    }

    /// Returns the path relative to the workspace.
    pub fn path(&self) -> String {
        format!("golden/{}/{}.jsonl", self.profile, self.kind.word())
    }

    /// Parses a path; `None` if it is not the path of a baseline.
    pub fn parse(path: &str) -> Option<Self> {
        let (profile, file) = path.strip_prefix("golden/")?.split_once('/')?;
        let word = file.strip_suffix(".jsonl")?;
        let (_, kind) = SuiteKind::ALL.iter().find(|(known, _)| *known == word)?;
        Some(Self { profile: profile.to_owned(), kind: *kind })
    }

    /// Returns the tools shown to a subject in these cases.
    pub(super) fn shown_tools<'w>(&self, workspace: &'w Workspace) -> Vec<&'w Tool> {
        match workspace.profile(&self.profile) {
            Some(profile) => profile.select(&workspace.tools),
            None if self.kind == SuiteKind::Skills => vec![],
            None => workspace.tools.iter().collect(),
        }
    }

    pub(super) fn shows_agents(&self) -> bool {
        self.profile == ALL && self.kind != SuiteKind::Skills
    }

    pub(super) fn shows_skills(&self) -> bool {
        self.profile == ALL && self.kind == SuiteKind::Skills
    }
}
