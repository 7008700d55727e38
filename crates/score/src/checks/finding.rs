//! Findings of a check: problem, location and remedy.

use model::{CheckWaiver, Location, Problem, UserError};
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

/// Severity. Errors fail the tier; warnings are shown and counted.
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
    /// Number of items examined. A check that examined nothing proves nothing.
    looked_at: usize,
    seed: u64,
    notes: Vec<String>,
    errors: usize,
    warnings: usize,
    /// Findings that these accept are counted and not reported.
    waivers: Vec<CheckWaiver>,
    waived: usize,
}

/// Maximum findings kept per check; further ones are only counted. Hostile files can cause millions.
const MAX_FINDINGS: usize = 500;

impl FindingCollector {
    pub fn of(check: &'static str, seed: u64) -> Self {
        Self { check, found: vec![], looked_at: 0, seed, notes: vec![], errors: 0, warnings: 0, waivers: vec![], waived: 0 }
    }

    /// Returns the collector with the waivers of its check.
    pub(super) fn waiving(self, waivers: Vec<CheckWaiver>) -> Self {
        Self { waivers, ..self }
    }

    /// Returns the seed for checks that use random samples.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Counts one examined item.
    pub fn record_examined(&mut self) {
        self.looked_at += 1;
    }

    /// Adds a measured figure to the report.
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
        if self.waivers.iter().any(|waiver| waiver.covers(&at.file)) {
            self.waived += 1;
            return;
        }
        match level {
            FindingLevel::Error => self.errors += 1,
            FindingLevel::Warning => self.warnings += 1,
        }
        if !self.is_full() {
            self.found.push(CheckFinding { level, check: self.check, at: at.clone(), what, remedy });
        }
    }

    /// Reports whether further findings are only counted. A check may then skip costly remedies.
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
            waived: self.waived,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    pub check: &'static str,
    pub looked_at: usize,
    /// Kept findings, sorted; the counts below include the others.
    pub findings: Vec<CheckFinding>,
    /// Measured figures.
    pub notes: Vec<String>,
    errors: usize,
    warnings: usize,
    waived: usize,
}

impl CheckResult {
    /// Returns the number of findings that waivers of the workspace accept.
    pub fn waived(&self) -> usize {
        self.waived
    }

    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Adds a warning that only the caller can see, such as a file that is not there, unless a waiver of the check accepts it.
    pub fn add_warning(&mut self, waivers: &[CheckWaiver], at: &Location, what: String, remedy: String) {
        if waivers.iter().any(|waiver| waiver.covers(&at.file)) {
            self.waived += 1;
            return;
        }
        self.warnings += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(CheckFinding { level: FindingLevel::Warning, check: self.check, at: at.clone(), what, remedy });
            self.findings.sort();
        }
    }

    pub fn warnings(&self) -> usize {
        self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::waivers_of;
    use crate::example::ExampleWorkspace;

    #[test]
    fn waivers_accept_warnings_of_the_caller() {
        let place = Location::new("scorers.yaml", 2);
        let workspace = ExampleWorkspace::minimal()
            .with("bardo-eval.yaml", "waive:\n  - { check: gates_measured, where: scorers.yaml, reason: The script is made in CI. }\n")
            .load()
            .expect("a workspace");
        let mut result = FindingCollector::of("gates_measured", 1).finish();
        assert!(waivers_of(&workspace, "gates_measured").is_empty(), "protected by the policy");
        let waivers = &workspace.defaults.waivers;
        result.add_warning(waivers, &place, "no script".into(), String::new());
        assert_eq!((result.errors(), result.warnings(), result.waived()), (0, 0, 1));
        result.add_warning(waivers, &Location::new("gates.yaml", 1), "no script".into(), String::new());
        assert_eq!((result.errors(), result.warnings(), result.findings.len()), (0, 1, 1));
    }
}
