//! Workspace with the cases of the red team, for runs that select them.

use crate::spec::{CaseFile, CaseSelection, RunSpec};
use attack::AttackChoice;
use model::{Case, Suite, SuiteKind, UserError, Workspace};
use std::sync::Arc;
use store::StoredRun;

/// Returns the workspace of a run: with attacked cases if the run selects any.
pub fn attack_workspace(workspace: Arc<Workspace>, spec: &RunSpec) -> Arc<Workspace> {
    let is_attacked = attack::has_red_team(&workspace);
    if is_attacked || workspace.probes.is_empty() || !selects_red_team(&workspace, &spec.settings.selection()) {
        return workspace;
    }
    let mut attacked = Workspace::clone(&workspace);
    attack::add_red_team(&mut attacked, spec.settings.attack_choice());
    Arc::new(attacked)
}

/// Returns the workspace with the suites of further files.
///
/// # Errors
/// All problems of the files, and cases that the workspace has already.
pub fn with_case_files(workspace: Arc<Workspace>, files: &[CaseFile]) -> Result<Arc<Workspace>, Vec<UserError>> {
    if files.is_empty() {
        return Ok(workspace);
    }
    let (mut suites, mut errors) = (vec![], vec![]);
    for file in files {
        match workspace.read_suite_file(&file.path, &file.text) {
            Ok(suite) => suites.push(suite),
            Err(problems) => errors.extend(problems.into_iter().map(UserError::from)),
        }
    }
    let known = |case: &&Case| workspace.case(&case.id).is_some();
    for case in suites.iter().flat_map(|suite: &Suite| &suite.cases).filter(known) {
        let what = format!("the workspace has a case \"{}\" already", case.id.value);
        errors.push(UserError::new(what, "select it with --case, or give the case of the file another id").with_location(case.at.clone()));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut extended = Workspace::clone(&workspace);
    extended.add_suites(suites);
    Ok(Arc::new(extended))
}

/// Returns the workspace of a stored run: with the cases of its files, and with attacked cases if the run has cases that no file contains.
pub fn stored_run_workspace(mut workspace: Workspace, run: &StoredRun) -> Workspace {
    if let Ok(spec) = RunSpec::from_stored(&run.settings, None, None) {
        let files = &spec.settings.case_files;
        workspace.add_suites(files.iter().filter_map(|file| workspace.read_suite_file(&file.path, &file.text).ok()).collect());
    }
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
    let is_file = |name: &String| workspace.suites.iter().any(|suite| suite.name == *name);
    let by_suite = selection.suites.iter().any(|suite| suite.split('/').next() == Some(folder) && !is_file(suite));
    let by_case = selection.cases.iter().any(is_attacked);
    let tier = selection.tier.and_then(|tier| workspace.tiers.tiers.iter().find(|one| one.tier == tier));
    let by_tier = selection.suites.is_empty() && tier.is_some_and(|tier| tier.suites.contains(&SuiteKind::RedTeam));
    by_suite || by_case || by_tier
}
