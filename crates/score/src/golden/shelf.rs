//! Where a golden baseline stands: one file for each profile and kind of suite, a stamp and then one line for each case.

use super::stamp::FORMAT;
use super::{Entry, Stamp};
use model::suite::{Case, Surface};
use model::{SuiteKind, Tool, Workspace};

/// A profile and a kind of suite. Agents and skills draw on the whole catalogue, so theirs is `all`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shelf {
    pub profile: String,
    pub kind: SuiteKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Counting from 1.
    pub line: usize,
    pub why: String,
}

const ALL: &str = "all";

impl Shelf {
    pub fn of(case: &Case) -> Self {
        let profile = match &case.brief.surface {
            Surface::Profile(name) => name.value.clone(),
            Surface::Agent(_) | Surface::Skills => ALL.to_owned(),
        };
        Self { profile, kind: case.kind }
    }

    /// The path below the workspace.
    pub fn path(&self) -> String {
        format!("golden/{}/{}.jsonl", self.profile, self.kind.word())
    }

    /// The shelf of a path, if it is one.
    pub fn at(path: &str) -> Option<Self> {
        let (profile, file) = path.strip_prefix("golden/")?.split_once('/')?;
        let word = file.strip_suffix(".jsonl")?;
        let (_, kind) = SuiteKind::ALL.iter().find(|(known, _)| *known == word)?;
        Some(Self { profile: profile.to_owned(), kind: *kind })
    }

    /// The tools that are shown to a subject in these cases.
    pub(super) fn tools<'w>(&self, workspace: &'w Workspace) -> Vec<&'w Tool> {
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

    /// JSON lines, sorted by case: a changed case is a changed line in a review.
    pub fn write(stamp: &Stamp, entries: &[Entry]) -> String {
        let line = |value: serde_json::Result<String>| value.unwrap_or_else(|error| panic!("plain data is always JSON: {error}"));
        let mut entries: Vec<&Entry> = entries.iter().collect();
        entries.sort_by(|one, other| one.case.cmp(&other.case));
        let mut text = line(serde_json::to_string(stamp)) + "\n";
        for entry in entries {
            text.push_str(&line(serde_json::to_string(entry)));
            text.push('\n');
        }
        text
    }

    pub fn read(text: &str) -> Result<(Stamp, Vec<Entry>), Unreadable> {
        let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
        let (_, first) = lines.next().ok_or_else(|| Unreadable { line: 1, why: "the file is empty".into() })?;
        let stamp: Stamp = serde_json::from_str(first).map_err(|error| Unreadable { line: 1, why: error.to_string() })?;
        if stamp.format != FORMAT {
            return Err(Unreadable { line: 1, why: format!("its format is {}, this version reads {FORMAT}", stamp.format) });
        }
        let entries = lines.filter(|(_, line)| !line.trim().is_empty());
        let entries = entries.map(|(n, line)| serde_json::from_str(line).map_err(|error| Unreadable { line: n, why: error.to_string() }));
        Ok((stamp, entries.collect::<Result<_, _>>()?))
    }
}
