//! Deviations from the specification that a workspace declares.

use super::shortfall::SpecShortfall;
use super::workspace_shortfall::spec_shortfalls;
use model::{Location, Workspace};

/// `deviates` in a file, with the rows that it excuses.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredDeviation {
    pub at: Location,
    pub reason: String,
    /// Statements about rows that are weaker than the specification.
    pub covers: Vec<String>,
    /// Those among them about rows that are there and less strict; the others are about missing rows.
    pub lowered: Vec<String>,
}

/// Returns all declared deviations, in the order of their location. One that excuses nothing has an empty list.
pub fn declared_deviations(workspace: &Workspace) -> Vec<DeclaredDeviation> {
    let shortfalls = spec_shortfalls(workspace);
    let gates = workspace.gates.iter().filter_map(|gate| gate.deviates.as_ref()).chain(&workspace.gates_deviate);
    let tiers = workspace.tiers.tiers.iter().filter_map(|tier| tier.deviates.as_ref());
    let ci = workspace.tiers.ci.iter().filter_map(|row| row.deviates.as_ref());
    let declared = gates
        .chain(tiers)
        .chain(ci)
        .chain(&workspace.tiers.deviates)
        .chain(workspace.policy.iter().filter_map(|policy| policy.deviates.as_ref()));
    let mut all: Vec<DeclaredDeviation> = declared
        .map(|reason| {
            let is_covered = |shortfall: &&SpecShortfall| shortfall.reason.as_ref().is_some_and(|given| given.at == reason.at);
            let covered: Vec<&SpecShortfall> = shortfalls.iter().filter(is_covered).collect();
            let lowered = covered.iter().filter(|shortfall| shortfall.is_lowered);
            DeclaredDeviation {
                at: reason.at.clone(),
                reason: reason.value.clone(),
                lowered: lowered.map(|shortfall| shortfall.what.clone()).collect(),
                covers: covered.iter().map(|shortfall| shortfall.what.clone()).collect(),
            }
        })
        .collect();
    all.sort_by(|one, other| one.at.cmp(&other.at));
    all
}
