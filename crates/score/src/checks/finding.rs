//! What a check found wrong, where, and what to do about it.

use model::{Place, Problem, UserError};
use serde::Serialize;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    pub level: Level,
    pub check: &'static str,
    pub at: Place,
    pub what: String,
    pub remedy: String,
}

/// Errors fail the tier; warnings are shown and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Error,
    Warning,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = Problem { at: self.at.clone(), what: self.what.clone(), remedy: self.remedy.clone() };
        write!(f, "{problem}  [{}]", self.check)
    }
}

impl From<Finding> for UserError {
    fn from(finding: Finding) -> Self {
        UserError::new(finding.what, finding.remedy).at(finding.at)
    }
}

/// Collects the findings of one check.
#[derive(Debug)]
pub struct Findings {
    check: &'static str,
    found: Vec<Finding>,
    /// How many things the check looked at; a check that looked at nothing has shown nothing.
    looked_at: usize,
    seed: u64,
    notes: Vec<String>,
    errors: usize,
    warnings: usize,
}

/// More findings of one check than this are counted, not kept: nobody reads them, and hostile files can make millions.
const MOST: usize = 500;

impl Findings {
    pub fn of(check: &'static str, seed: u64) -> Self {
        Self { check, found: vec![], looked_at: 0, seed, notes: vec![], errors: 0, warnings: 0 }
    }

    /// For checks that try random things: the same seed tries the same things.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Call once per thing examined.
    pub fn look(&mut self) {
        self.looked_at += 1;
    }

    /// A figure that was measured, whether it is good or bad.
    pub fn note(&mut self, figure: impl Into<String>) {
        self.notes.push(figure.into());
    }

    pub fn error(&mut self, at: &Place, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Level::Error, at, what.into(), remedy.into());
    }

    pub fn warning(&mut self, at: &Place, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Level::Warning, at, what.into(), remedy.into());
    }

    fn add(&mut self, level: Level, at: &Place, what: String, remedy: String) {
        match level {
            Level::Error => self.errors += 1,
            Level::Warning => self.warnings += 1,
        }
        if !self.is_full() {
            self.found.push(Finding { level, check: self.check, at: at.clone(), what, remedy });
        }
    }

    /// Whether further findings are only counted; a check may then stop looking for remedies.
    pub fn is_full(&self) -> bool {
        self.found.len() >= MOST
    }

    pub fn finish(mut self) -> CheckResult {
        self.found.sort();
        CheckResult {
            check: self.check,
            looked_at: self.looked_at,
            findings: self.found,
            notes: self.notes,
            errors: self.errors,
            warnings: self.warnings,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    pub check: &'static str,
    pub looked_at: usize,
    /// The first of them, sorted; the counts below include the others.
    pub findings: Vec<Finding>,
    /// What the check measured, in words.
    pub notes: Vec<String>,
    errors: usize,
    warnings: usize,
}

impl CheckResult {
    pub fn errors(&self) -> usize {
        self.errors
    }

    pub fn warnings(&self) -> usize {
        self.warnings
    }
}
