//! Problems in the user's files: location, description and remedy. All problems of a file are collected.

use crate::location::{Location, SourceFile};
use std::cell::RefCell;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub at: Location,
    pub what: String,
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.at, self.what)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

/// Facts about a workspace that decide how each of its files is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkspaceTraits {
    /// The workspace has `policy.yaml`, so the keys of the DeFi rules are required.
    pub has_policy: bool,
    /// Cases keep the text that they were read from.
    pub case_texts: CaseTexts,
}

/// Use of the texts of cases after they are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CaseTexts {
    /// For reproducers and for scorers of the workspace.
    #[default]
    Kept,
    Dropped,
}

impl Default for WorkspaceTraits {
    fn default() -> Self {
        Self { has_policy: true, case_texts: CaseTexts::Kept }
    }
}

/// Collects problems and warnings while a file is read. Reading continues after a problem so that all of them are reported.
#[derive(Debug)]
pub struct ProblemReport {
    file: SourceFile,
    first_line: u32,
    workspace: WorkspaceTraits,
    problems: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Problem>>,
}

/// Further problems of a file are dropped, to keep the output readable.
const MAX_PROBLEMS_PER_FILE: usize = 100;

impl ProblemReport {
    pub fn new(file: &str) -> Self {
        Self::with_line_offset(file, 0)
    }

    /// Returns a report for YAML inside another file, after `first_line` lines.
    pub fn with_line_offset(file: &str, first_line: u32) -> Self {
        let workspace = WorkspaceTraits::default();
        Self { file: SourceFile::new(file), first_line, workspace, problems: RefCell::default(), warnings: RefCell::default() }
    }

    /// Sets the workspace that the file belongs to.
    #[must_use]
    pub(crate) fn in_workspace(self, workspace: WorkspaceTraits) -> Self {
        Self { workspace, ..self }
    }

    pub(crate) fn keeps_case_texts(&self) -> bool {
        self.workspace.case_texts == CaseTexts::Kept
    }

    pub(crate) fn has_policy(&self) -> bool {
        self.workspace.has_policy
    }

    pub fn location(&self, line: u32) -> Location {
        Location { file: self.file.clone(), line: line + self.first_line }
    }

    pub fn add(&self, line: u32, what: impl Into<String>, remedy: impl Into<String>) {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < MAX_PROBLEMS_PER_FILE {
            problems.push(Problem { at: self.location(line), what: what.into(), remedy: remedy.into() });
        }
    }

    /// Adds a warning. The file is still accepted.
    pub fn warn(&self, line: u32, what: impl Into<String>, remedy: impl Into<String>) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < MAX_PROBLEMS_PER_FILE {
            warnings.push(Problem { at: self.location(line), what: what.into(), remedy: remedy.into() });
        }
    }

    /// Removes and returns the warnings added so far.
    pub fn take_warnings(&self) -> Vec<Problem> {
        self.warnings.take()
    }

    /// Returns whether further problems would be dropped.
    pub fn is_full(&self) -> bool {
        self.problems.borrow().len() >= MAX_PROBLEMS_PER_FILE
    }

    pub fn is_empty(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    pub fn into_problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }
}

/// Returns the nearest known word as a remedy; empty if none is near. See [`nearest_name`].
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest_name(word, known).map(|best| format!("did you mean \"{best}\"?")).unwrap_or_default()
}

/// Names listed in place of a suggestion.
const MAX_NAMES_LISTED: usize = 12;

/// Kinds of names that `bardo-eval list` prints.
const LISTED_KINDS: &[&str] = &["subject", "suite", "tag", "profile", "agent", "skill", "case", "world", "tool", "gate", "scorer", "check"];

/// Returns a remedy for an unknown name: the nearest one, one that contains it, all of them if they are few, or the command that lists them.
pub fn name_remedy<'a>(kind: &str, word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: std::collections::BTreeSet<&str> = known.into_iter().collect();
    if let Some(best) = nearest_name(word, known.iter().copied()).or_else(|| containing_name(word, &known)) {
        return format!("did you mean \"{best}\"?");
    }
    match known.len() {
        0 => format!("the workspace has no {kind}"),
        1..=MAX_NAMES_LISTED => format!("known: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
        many if LISTED_KINDS.contains(&kind) => format!("`bardo-eval list {kind}s` lists all {many}"),
        _ => String::new(),
    }
}

/// Returns the shortest name that contains the word, or the longest that the word contains, without regard to case and separators.
fn containing_name<'a>(word: &str, known: &std::collections::BTreeSet<&'a str>) -> Option<&'a str> {
    let squeeze = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let word = squeeze(word);
    if word.chars().count() < 4 {
        return None;
    }
    let longer = known.iter().filter(|name| squeeze(name).contains(&word)).min_by_key(|name| name.len());
    let shorter = || known.iter().filter(|name| name.len() >= 4 && word.contains(&squeeze(name))).max_by_key(|name| name.len());
    longer.or_else(shorter).copied()
}

/// Returns the known word most similar to `word`, if it is similar enough.
pub fn nearest_name<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    known
        .into_iter()
        // Comparing lengths first is cheap, and a word may be as long as a file.
        .filter(|candidate| {
            let other = candidate.chars().count();
            length.min(other) * 10 >= length.max(other) * 6
        })
        .map(|candidate| {
            (rapidfuzz::distance::damerau_levenshtein::normalized_similarity(word.chars(), candidate.to_lowercase().chars()), candidate)
        })
        .filter(|(similarity, _)| *similarity >= 0.6)
        .max_by(|(a, left), (b, right)| a.total_cmp(b).then_with(|| right.cmp(left)))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn did_you_mean_suggests_only_near_words() {
        let known = ["slippage", "simulate", "spend"];
        assert_eq!(did_you_mean("slipage", known), "did you mean \"slippage\"?");
        assert_eq!(did_you_mean("zzz", known), "");
    }

    #[test]
    fn name_remedy_suggests_or_lists_names() {
        let gates = ["hit_rate_profiles", "argument_match", "hit_rate_agents_and_skills"];
        assert_eq!(name_remedy("gate", "hitrate", gates), "did you mean \"hit_rate_profiles\"?");
        assert_eq!(name_remedy("gate", "zzz", gates), "known: argument_match, hit_rate_agents_and_skills, hit_rate_profiles");
        let many: Vec<String> = (0..40).map(|n| format!("case_{n}")).collect();
        assert_eq!(name_remedy("case", "zzz", many.iter().map(String::as_str)), "`bardo-eval list cases` lists all 40");
        assert_eq!(name_remedy("tag", "zzz", []), "the workspace has no tag");
    }

    #[test]
    fn report_lines_include_the_line_offset() {
        let report = ProblemReport::with_line_offset("agents/a.md", 1);
        report.add(3, "wrong", "");
        assert_eq!(report.into_problems()[0].at.to_string(), "agents/a.md:4");
    }
}
