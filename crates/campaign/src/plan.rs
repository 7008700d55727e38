//! Every case × subject × seed, in order.

use crate::request::Request;
use model::suite::{Case, Peers};
use model::{Hash, Outline, Plan, Planned, Seated, SubjectFile, Workspace};
use serde_json::json;

/// Trials of one case stand together, subjects in the order asked for, seeds counting up.
pub fn plan(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Plan {
    Plan { workspace: workspace.hash.clone(), trials: outline(workspace, cases, subjects, trials, seed).trials() }
}

/// The same in short, as it is kept.
pub fn outline(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Outline {
    let cases = cases.iter().map(|case| Planned { case: case.id.value.clone(), hash: content(workspace, case) }).collect();
    let seated = |subject: &&SubjectFile| Seated { subject: subject.name.value.clone(), configuration: subject.identity() };
    Outline { cases, subjects: subjects.iter().map(seated).collect(), trials, seed, ceilings: vec![] }
}

/// Where another subject plays the peers, its configuration is part of what a case is.
fn content(workspace: &Workspace, case: &Case) -> Hash {
    match peers(workspace, case) {
        Some(peers) => Hash::of(&json!([case.hash.as_str(), peers.identity().as_str()])),
        None => case.hash.clone(),
    }
}

fn peers<'w>(workspace: &'w Workspace, case: &Case) -> Option<&'w SubjectFile> {
    match &case.brief.peers {
        Peers::Subject(name) => workspace.subject(name),
        Peers::Stub | Peers::Own => None,
    }
}

/// Everybody who plays in a run: the subjects, and whoever plays the peers of its cases.
pub fn players(request: &Request) -> Vec<&SubjectFile> {
    let workspace = &request.workspace;
    let cases = request.outline.cases.iter().filter_map(|planned| workspace.case(&planned.case));
    let mut all: Vec<&SubjectFile> = request.subjects.iter().collect();
    for file in cases.filter_map(|case| peers(workspace, case)) {
        if !all.iter().any(|one| one.name == file.name) {
            all.push(file);
        }
    }
    all
}
