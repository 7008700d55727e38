//! What a check found wrong, where, and what to do about it.

use model::{Location, Problem, UserError};
use serde::Serialize;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CheckFinding {
    pub level: FindingLevel,
    pub check: &'static str,
    pub at: Location,
    pub what: String,
    pub remedy: String,
}

/// Errors fail the tier; warnings are shown and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingLevel {
    Error,
    Warning,
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = Problem { at: self.at.clone(), what: self.what.clone(), remedy: self.remedy.clone() };
        write!(f, "{problem}  [{}]", self.check)
    }
}

impl From<CheckFinding> for UserError {
    fn from(finding: CheckFinding) -> Self {
        UserError::new(finding.what, finding.remedy).with_location(finding.at)
    }
}

/// Collects the findings of one check.
#[derive(Debug)]
pub struct FindingCollector {
    check: &'static str,
    found: Vec<CheckFinding>,
    /// How many things the check looked at; a check that looked at nothing has shown nothing.
    looked_at: usize,
    seed: u64,
    notes: Vec<String>,
    errors: usize,
    warnings: usize,
}

/// More findings of one check than this are counted, not kept: nobody reads them, and hostile files can make millions.
const MAX_FINDINGS: usize = 500;

impl FindingCollector {
    pub fn of(check: &'static str, seed: u64) -> Self {
        Self { check, found: vec![], looked_at: 0, seed, notes: vec![], errors: 0, warnings: 0 }
    }

    /// For checks that try random things: the same seed tries the same things.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Call once per thing examined.
    pub fn record_examined(&mut self) {
        self.looked_at += 1;
    }

    /// A figure that was measured, whether it is good or bad.
    pub fn note(&mut self, figure: impl Into<String>) {
        self.notes.push(figure.into());
    }

    pub fn error(&mut self, at: &Location, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(FindingLevel::Error, at, what.into(), remedy.into());
    }

    pub fn warning(&mut self, at: &Location, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(FindingLevel::Warning, at, what.into(), remedy.into());
    }

    fn add(&mut self, level: FindingLevel, at: &Location, what: String, remedy: String) {
        match level {
            FindingLevel::Error => self.errors += 1,
            FindingLevel::Warning => self.warnings += 1,
        }
        if !self.is_full() {
            self.found.push(CheckFinding { level, check: self.check, at: at.clone(), what, remedy });
        }
    }

    /// Whether further findings are only counted; a check may then stop looking for remedies.
    pub fn is_full(&self) -> bool {
        self.found.len() >= MAX_FINDINGS
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
    pub findings: Vec<CheckFinding>,
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
