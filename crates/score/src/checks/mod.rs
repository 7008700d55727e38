//! Tier 1: everything that can be known about a workspace without calling a model. One check, one file.

mod delegates_exist;
mod example;
mod finding;
mod profile_counts;

pub use example::{Edit, Example, MINIMAL};
pub use finding::{CheckResult, Finding, Findings, Level};

use model::Workspace;

pub trait Check: Sync {
    fn id(&self) -> &'static str;
    /// Printed by `bardo-eval explain <id>`.
    fn manual(&self) -> &'static str;
    fn check(&self, workspace: &Workspace, found: &mut Findings);
    /// A workspace this check finds nothing wrong with although it looks at something.
    fn accepts(&self) -> Example {
        Example::minimal()
    }
    /// A workspace that is wrong in the way this check is for.
    fn rejects(&self) -> Example;
}

/// In the order in which findings are read: the catalogue first, then who uses it, then what judges it.
pub static CHECKS: &[&dyn Check] = &[&profile_counts::ProfileCounts, &delegates_exist::DelegatesExist];

/// Runs every check.
pub fn smoke(workspace: &Workspace) -> Vec<CheckResult> {
    CHECKS
        .iter()
        .map(|check| {
            let mut found = Findings::of(check.id());
            check.check(workspace, &mut found);
            found.finish()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(check: &dyn Check, example: &Example) -> CheckResult {
        let workspace = example.load().unwrap_or_else(|problems| panic!("{}: the example does not load: {problems:#?}", check.id()));
        let mut found = Findings::of(check.id());
        check.check(&workspace, &mut found);
        found.finish()
    }

    #[test]
    fn every_check_accepts_its_good_and_rejects_its_bad_example() {
        for check in CHECKS {
            let good = run(*check, &check.accepts());
            assert!(good.findings.is_empty(), "{} rejects its good example: {:#?}", check.id(), good.findings);
            assert!(good.looked_at > 0, "{} looked at nothing in its good example", check.id());
            let bad = run(*check, &check.rejects());
            assert!(!bad.findings.is_empty(), "{} accepts its bad example", check.id());
            for finding in &bad.findings {
                assert!(finding.at.line > 0 && !finding.at.file.is_empty(), "{}: {finding} has no place", check.id());
                assert!(!finding.remedy.is_empty(), "{}: {finding} has no remedy", check.id());
            }
        }
    }

    #[test]
    fn ids_are_unique_and_manuals_say_something() {
        for (n, check) in CHECKS.iter().enumerate() {
            assert!(CHECKS[..n].iter().all(|other| other.id() != check.id()), "{} twice", check.id());
            assert!(check.manual().len() > 80, "{} needs a manual", check.id());
        }
    }

    /// A check file that is not in the table would never run.
    #[test]
    fn every_check_file_is_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/checks");
        #[expect(clippy::disallowed_methods, reason = "the test looks at its own source folder")]
        let files = std::fs::read_dir(folder).expect("the source folder");
        let helpers = ["mod", "example", "finding", "graph", "words"];
        for file in files {
            let name = file.expect("an entry").file_name().to_string_lossy().trim_end_matches(".rs").to_owned();
            if !helpers.contains(&name.as_str()) {
                assert!(CHECKS.iter().any(|check| check.id() == name), "checks/{name}.rs is not in CHECKS");
            }
        }
    }
}
