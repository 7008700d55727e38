//! Every case × subject × seed, in order.

use model::suite::Case;
use model::{Plan, SubjectFile, Trial, Workspace};

/// Trials of one case stand together, subjects in the order asked for, seeds counting up.
pub fn plan(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, seed: u64) -> Plan {
    let trials = cases
        .iter()
        .flat_map(|case| {
            subjects.iter().flat_map(move |subject| {
                let configuration = subject.identity();
                (0..trials).map(move |n| Trial::new(case, &subject.name, &configuration, seed.wrapping_add(n)))
            })
        })
        .collect();
    Plan { workspace: workspace.hash.clone(), trials }
}
