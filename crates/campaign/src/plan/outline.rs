//! Trials of a run: every case × subject × seed, in order.

use model::suite::{Case, Peers};
use model::{Hash, Outline, Plan, Planned, Seated, SubjectFile, Workspace};
use serde_json::json;

/// Lists every trial: those of one case together, subjects in the order asked for, seeds counting up.
pub fn plan(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Plan {
    Plan { workspace: workspace.hash.clone(), trials: outline(workspace, cases, subjects, trials, seed).trials() }
}

/// The short form of a plan, as it is stored.
pub fn outline(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Outline {
    let cases = cases.iter().map(|case| Planned { case: case.id.value.clone(), hash: content(workspace, case) }).collect();
    let seated = |subject: &&SubjectFile| Seated { subject: subject.name.value.clone(), configuration: subject.identity() };
    Outline { cases, subjects: subjects.iter().map(seated).collect(), trials, seed }
}

/// Hash of what a case is. The configuration of a subject that plays its peers is part of it.
fn content(workspace: &Workspace, case: &Case) -> Hash {
    match peers(workspace, case) {
        Some(peers) => Hash::of(&json!([case.hash.as_str(), peers.identity().as_str()])),
        None => case.hash.clone(),
    }
}

/// The subject that plays the peers of a case, if one does.
pub(super) fn peers<'w>(workspace: &'w Workspace, case: &Case) -> Option<&'w SubjectFile> {
    match &case.brief.peers {
        Peers::Subject(name) => workspace.subject(name),
        Peers::Stub | Peers::Own => None,
    }
}
