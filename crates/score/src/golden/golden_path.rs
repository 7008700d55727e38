//! Path of a golden baseline: one file per subject, profile and kind of suite, and one beside it for wrong answers.

use model::suite::{Case, CaseSurface};
use model::{SuiteKind, Tool, Workspace};

/// Subject, profile and kind of suite. Agents and skills use the whole catalogue, so their profile is `all`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldenPath {
    pub subject: String,
    pub profile: String,
    pub kind: SuiteKind,
    pub answers: GoldenAnswers,
}

/// Answers of a file. A wrong answer is never a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GoldenAnswers {
    /// Answers of trials that did not fail.
    Right,
    /// Answers of trials that failed, kept to see when they change.
    KnownFailures,
}

const ALL: &str = "all";
const RIGHT: &str = ".jsonl";
const KNOWN_FAILURES: &str = ".known_failures.jsonl";

impl GoldenPath {
    pub fn of(subject: &str, case: &Case, answers: GoldenAnswers) -> Self {
        let profile = match &case.brief.surface {
            CaseSurface::Profile(name) => name.value.clone(),
            CaseSurface::Agent(_) | CaseSurface::Skills => ALL.to_owned(),
        };
        Self { subject: subject.to_owned(), profile, kind: case.kind, answers }
    }

    /// Returns the path relative to the workspace.
    pub fn path(&self) -> String {
        format!("golden/{}/{}/{}{}", self.subject, self.profile, self.kind.word(), self.answers.ending())
    }

    /// Returns the path in workspaces of earlier versions, which had one set of baselines.
    pub fn legacy_path(&self) -> String {
        format!("golden/{}/{}{}", self.profile, self.kind.word(), self.answers.ending())
    }

    /// Parses a path; `None` if it is not the path of a baseline. A path of an earlier version has no subject; its stamp names it.
    pub fn parse(path: &str, stamped: Option<&str>) -> Option<Self> {
        let parts: Vec<&str> = path.strip_prefix("golden/")?.split('/').collect();
        let (subject, profile, file) = match parts.as_slice() {
            [subject, profile, file] => (*subject, *profile, *file),
            [profile, file] => (stamped?, *profile, *file),
            _ => return None,
        };
        let (word, answers) = match (file.strip_suffix(KNOWN_FAILURES), file.strip_suffix(RIGHT)) {
            (Some(word), _) => (word, GoldenAnswers::KnownFailures),
            (None, Some(word)) => (word, GoldenAnswers::Right),
            (None, None) => return None,
        };
        let (_, kind) = SuiteKind::ALL.iter().find(|(known, _)| *known == word)?;
        Some(Self { subject: subject.to_owned(), profile: profile.to_owned(), kind: *kind, answers })
    }

    /// Returns the file with the other answers to the same cases.
    pub fn with_answers(&self, answers: GoldenAnswers) -> Self {
        Self { answers, ..self.clone() }
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

impl GoldenAnswers {
    fn ending(self) -> &'static str {
        match self {
            GoldenAnswers::Right => RIGHT,
            GoldenAnswers::KnownFailures => KNOWN_FAILURES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_parsed_as_they_are_written() {
        for answers in [GoldenAnswers::Right, GoldenAnswers::KnownFailures] {
            let path = GoldenPath { subject: "claude".into(), profile: "data".into(), kind: SuiteKind::ToolSelection, answers };
            assert_eq!(GoldenPath::parse(&path.path(), None), Some(path.clone()));
            assert_eq!(GoldenPath::parse(&path.legacy_path(), Some("claude")), Some(path.clone()));
            assert_eq!(GoldenPath::parse(&path.legacy_path(), None), None);
        }
        for wrong in ["golden/data/poems.jsonl", "golden/a/b/c/skills.jsonl", "golden/data/skills.txt", "judge/data/skills.jsonl"] {
            assert_eq!(GoldenPath::parse(wrong, Some("claude")), None, "{wrong}");
        }
    }
}
