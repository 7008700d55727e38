//! Every case × subject × seed, in order.

use model::suite::Case;
use model::{Outline, Plan, Planned, Seated, SubjectFile, Workspace};

/// Trials of one case stand together, subjects in the order asked for, seeds counting up.
pub fn plan(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Plan {
    Plan { workspace: workspace.hash.clone(), trials: outline(cases, subjects, trials, seed).trials() }
}

/// The same in short, as it is kept.
pub fn outline(cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Outline {
    let cases = cases.iter().map(|case| Planned { case: case.id.value.clone(), hash: case.hash.clone() }).collect();
    let seated = |subject: &&SubjectFile| Seated { subject: subject.name.value.clone(), configuration: subject.identity() };
    Outline { cases, subjects: subjects.iter().map(seated).collect(), trials, seed, ceilings: vec![] }
}
