//! Trials of a run: every case × subject × seed, in order.

use model::suite::{Case, PeerMode};
use model::{ContentHash, Plan, PlanOutline, PlannedCase, PlannedSubject, SubjectFile, Workspace};
use serde_json::json;

/// Lists every trial: those of one case together, subjects in the order asked for, seeds counting up.
pub fn plan(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Plan {
    Plan { workspace: workspace.hash.clone(), trials: outline(workspace, cases, subjects, trials, seed).trials() }
}

/// The short form of a plan, as it is stored.
pub fn outline(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> PlanOutline {
    let cases = cases.iter().map(|case| PlannedCase { case: case.id.value.clone(), hash: case_hash(workspace, case) }).collect();
    let seated = |subject: &&SubjectFile| PlannedSubject { subject: subject.name.value.clone(), configuration: subject.identity() };
    PlanOutline { cases, subjects: subjects.iter().map(seated).collect(), trials, seed }
}

/// Hash of what a case is. The configuration of a subject that plays its peers is part of it.
fn case_hash(workspace: &Workspace, case: &Case) -> ContentHash {
    match peer_subject(workspace, case) {
        Some(peers) => ContentHash::of_json(&json!([case.hash.as_str(), peers.identity().as_str()])),
        None => case.hash.clone(),
    }
}

/// The subject that plays the peers of a case, if one does.
pub(super) fn peer_subject<'w>(workspace: &'w Workspace, case: &Case) -> Option<&'w SubjectFile> {
    match &case.brief.peers {
        PeerMode::Subject(name) => workspace.subject(name),
        PeerMode::Stub | PeerMode::Own => None,
    }
}
