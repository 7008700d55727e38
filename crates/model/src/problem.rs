//! A mistake in the user's files: where it is, what is wrong and what to do about it. Mistakes are collected, never thrown one by one.

use crate::place::Place;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub at: Place,
    pub what: String,
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.at, self.what)?;
        if !self.remedy.is_empty() {
            write!(f, "  {}", self.remedy)?;
        }
        Ok(())
    }
}

/// Collects the problems of one file while it is read; reading goes on after a mistake so that all of them are seen.
#[derive(Debug)]
pub struct Report {
    file: Arc<str>,
    first_line: u32,
    problems: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Problem>>,
}

/// A file with a thousand mistakes is a wrong file; the rest would only scroll the first ones away.
const MOST_PER_FILE: usize = 100;

impl Report {
    pub fn new(file: &str) -> Self {
        Self::starting_at(file, 0)
    }

    /// For YAML inside another file: `first_line` lines stand before it.
    pub fn starting_at(file: &str, first_line: u32) -> Self {
        Self { file: file.into(), first_line, problems: RefCell::default(), warnings: RefCell::default() }
    }

    pub fn place(&self, line: u32) -> Place {
        Place { file: self.file.clone(), line: line + self.first_line }
    }

    pub fn add(&self, line: u32, what: impl Into<String>, remedy: impl Into<String>) {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < MOST_PER_FILE {
            problems.push(Problem { at: self.place(line), what: what.into(), remedy: remedy.into() });
        }
    }

    /// Adds a warning: the file is read, but should be changed.
    pub fn warn(&self, line: u32, what: impl Into<String>, remedy: impl Into<String>) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < MOST_PER_FILE {
            warnings.push(Problem { at: self.place(line), what: what.into(), remedy: remedy.into() });
        }
    }

    /// Removes and returns the warnings added so far.
    pub fn take_warnings(&self) -> Vec<Problem> {
        self.warnings.take()
    }

    /// Whether further problems would be dropped.
    pub fn is_full(&self) -> bool {
        self.problems.borrow().len() >= MOST_PER_FILE
    }

    pub fn is_empty(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    pub fn into_problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }
}

/// The nearest of `known` to a misspelt word, phrased as a remedy; empty when nothing is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|best| format!("did you mean \"{best}\"?")).unwrap_or_default()
}

/// The nearest of `known` if it is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    known
        .into_iter()
        // Lengths alone decide most pairs, and a word may be as long as a file.
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
    fn a_typo_finds_its_word_and_nonsense_finds_none() {
        let known = ["slippage", "simulate", "spend"];
        assert_eq!(did_you_mean("slipage", known), "did you mean \"slippage\"?");
        assert_eq!(did_you_mean("zzz", known), "");
    }

    #[test]
    fn lines_are_counted_from_the_top_of_the_outer_file() {
        let report = Report::starting_at("agents/a.md", 1);
        report.add(3, "wrong", "");
        assert_eq!(report.into_problems()[0].at.to_string(), "agents/a.md:4");
    }
}
