//! Workspace with the cases of the red team, for runs that select them.

use crate::spec::{CaseSelection, RunSpec};
use attack::AttackChoice;
use model::{SuiteKind, Workspace};
use std::sync::Arc;
use store::StoredRun;

/// Returns the workspace of a run: with attacked cases if the run selects any.
pub fn attack_workspace(workspace: Arc<Workspace>, spec: &RunSpec) -> Arc<Workspace> {
    let is_attacked = workspace.suites.iter().any(|suite| suite.kind == SuiteKind::RedTeam);
    if is_attacked || workspace.probes.is_empty() || !selects_red_team(&workspace, &spec.settings.selection()) {
        return workspace;
    }
    let mut attacked = Workspace::clone(&workspace);
    attack::add_red_team(&mut attacked, spec.settings.attack_choice());
    Arc::new(attacked)
}

/// Returns the workspace of a stored run: with attacked cases if the run has cases that no file contains.
pub fn stored_run_workspace(mut workspace: Workspace, run: &StoredRun) -> Workspace {
    let is_attacked = run.plan.as_ref().is_some_and(|plan| plan.cases.iter().any(|planned| workspace.case(&planned.case).is_none()));
    if is_attacked && !workspace.probes.is_empty() {
        let plain = AttackChoice { seeds: 1, attacker_tries: None };
        let choice = RunSpec::from_stored(&run.settings, None, None).map_or(plain, |spec| spec.settings.attack_choice());
        attack::add_red_team(&mut workspace, choice);
    }
    workspace
}

/// Returns whether a selection asks for attacked cases: by a tier with the red team, by a suite, or by the id of a case.
fn selects_red_team(workspace: &Workspace, selection: &CaseSelection) -> bool {
    let folder = SuiteKind::RedTeam.word();
    let is_attacked = |case: &String| case.contains('.');
    let by_suite = selection.suites.iter().any(|suite| suite.split('/').next() == Some(folder));
    let by_case = selection.cases.iter().any(is_attacked);
    let tier = selection.tier.and_then(|tier| workspace.tiers.tiers.iter().find(|one| one.tier == tier));
    let by_tier = selection.suites.is_empty() && tier.is_some_and(|tier| tier.suites.contains(&SuiteKind::RedTeam));
    by_suite || by_case || by_tier
}
