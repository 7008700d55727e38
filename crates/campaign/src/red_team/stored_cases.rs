//! Cases of a stored run. Attacked cases are made probe by probe, because all of them together are several times as large as the workspace.

use crate::spec::RunSpec;
use attack::AttackChoice;
use model::{Case, Suite, Workspace};
use store::StoredRun;

/// Finds the cases of a run: those of the workspace, of further files, and attacked ones.
#[derive(Debug)]
pub struct StoredCases<'w> {
    workspace: &'w Workspace,
    files: Vec<Suite>,
    choice: AttackChoice,
    /// Suite of the last probe: attacks of a probe stand together in a plan.
    attacked: Option<Suite>,
}

impl<'w> StoredCases<'w> {
    pub fn new(workspace: &'w Workspace, run: &StoredRun) -> Self {
        let settings = RunSpec::from_stored(&run.settings, None, None).ok().map(|spec| spec.settings);
        let files = settings.iter().flat_map(|settings| &settings.case_files);
        Self {
            workspace,
            files: files.filter_map(|file| workspace.read_suite_file(&file.path, &file.text).ok()).collect(),
            choice: settings.as_ref().map_or(AttackChoice { seeds: 1, attacker_tries: None }, |settings| settings.attack_choice()),
            attacked: None,
        }
    }

    pub fn case(&mut self, id: &str) -> Option<&Case> {
        if let Some(case) = self.workspace.case(id) {
            return Some(case);
        }
        let is_known = |suite: &Suite| suite.cases.iter().any(|case| *case.id == id);
        if !self.files.iter().chain(&self.attacked).any(is_known)
            && let Some(suite) = attack::red_team_suite_of(self.workspace, id, self.choice)
        {
            self.attacked = Some(suite);
        }
        self.files.iter().chain(&self.attacked).flat_map(|suite| &suite.cases).find(|case| *case.id == id)
    }
}
