//! Trials of a run: every case × subject × seed, in order.

use model::suite::{Case, PeerMode};
use model::{ContentHash, Plan, PlanOutline, PlannedCase, PlannedSubject, SubjectFile, Workspace};
use serde_json::json;

/// Lists every trial: grouped by case, then by subject in the requested order, with increasing seeds.
pub fn plan(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Plan {
    let workspace_version = workspace.version_number();
    Plan { workspace: workspace.hash.clone(), workspace_version, trials: outline(workspace, cases, subjects, trials, seed).trials() }
}

/// Returns the compact form of a plan, as it is stored.
pub fn outline(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> PlanOutline {
    let cases = cases.iter().map(|case| PlannedCase { case: case.id.value.clone(), hash: case_hash(workspace, case) }).collect();
    let planned = |subject: &&SubjectFile| PlannedSubject { subject: subject.name.value.clone(), configuration: subject.identity() };
    PlanOutline { cases, subjects: subjects.iter().map(planned).collect(), trials, seed, workspace_version: workspace.version_number() }
}

/// Returns the hash of a case, including the configuration of a subject that plays its peers.
fn case_hash(workspace: &Workspace, case: &Case) -> ContentHash {
    match peer_subject(workspace, case) {
        Some(peers) => ContentHash::of_json(&json!([case.hash.as_str(), peers.identity().as_str()])),
        None => case.hash.clone(),
    }
}

/// Returns the subject that plays the peers of a case, if any.
pub(super) fn peer_subject<'w>(workspace: &'w Workspace, case: &Case) -> Option<&'w SubjectFile> {
    match &case.brief.peers {
        PeerMode::Subject(name) => workspace.subject(name),
        PeerMode::Stub | PeerMode::Own => None,
    }
}
