//! A run whose cases and subjects were found in the workspace.

use super::outline::{outline, peer_subject};
use crate::cost::{LiveModels, order_by_gate_need, trial_quotes};
use crate::spec::{RunSpec, inline_subject, select};
use model::suite::Case;
use model::{LiveRole, PlanOutline, SubjectFile, UserError, Workspace};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct RunPlan {
    workspace: Arc<Workspace>,
    spec: RunSpec,
    outline: PlanOutline,
    /// In the order of the outline.
    cases: Vec<CaseIndex>,
    subjects: Vec<SubjectFile>,
}

/// Suite of the workspace, and case of that suite.
#[derive(Debug, Clone, Copy)]
struct CaseIndex {
    suite: usize,
    case: usize,
}

impl RunPlan {
    /// Looks everything up. All mistakes come back together.
    pub fn resolve(spec: RunSpec, workspace: Arc<Workspace>) -> Result<Self, Vec<UserError>> {
        let settings = &spec.settings;
        let (cases, subjects) = match (select(&workspace, &settings.selection()), find_subjects(&workspace, &settings.subjects)) {
            (Ok(cases), Ok(subjects)) => (cases, subjects),
            (cases, subjects) => {
                let unknown = cases.err().unwrap_or_default().into_iter().map(UserError::from).collect::<Vec<_>>();
                return Err([unknown, subjects.err().unwrap_or_default()].concat());
            }
        };
        let files: Vec<&SubjectFile> = subjects.iter().collect();
        let cases = match subjects.iter().any(|subject| subject.provider.is_llm()) {
            true => {
                let live = live_models(&spec, &workspace);
                order_by_gate_need(&workspace, settings.claim, &cases, &trial_quotes(&workspace, &cases, &files, &live))
            }
            false => cases,
        };
        let case_ids: Vec<String> = cases.iter().map(|case| case.id.value.clone()).collect();
        let outline = outline(&workspace, &cases, &files, settings.trials, settings.seed);
        Ok(Self::assemble(workspace, spec, outline, &case_ids, subjects))
    }

    /// A plan of exactly these cases and subjects, for callers that chose them themselves.
    pub fn from_cases(spec: RunSpec, workspace: &Arc<Workspace>, cases: &[&Case], subjects: &[&SubjectFile]) -> Self {
        let outline = outline(workspace, cases, subjects, spec.settings.trials, spec.settings.seed);
        let case_ids: Vec<String> = cases.iter().map(|case| case.id.value.clone()).collect();
        Self::assemble(workspace.clone(), spec, outline, &case_ids, subjects.iter().map(|file| (*file).clone()).collect())
    }

    fn assemble(workspace: Arc<Workspace>, spec: RunSpec, outline: PlanOutline, cases: &[String], subjects: Vec<SubjectFile>) -> Self {
        let mut places: BTreeMap<&str, CaseIndex> = BTreeMap::new();
        for (suite, cases) in workspace.suites.iter().map(|suite| &suite.cases).enumerate() {
            for (case, one) in cases.iter().enumerate() {
                places.entry(&one.id).or_insert(CaseIndex { suite, case });
            }
        }
        // The cases were taken from this workspace, so each of them is found.
        let cases = cases.iter().filter_map(|id| places.get(id.as_str()).copied()).collect();
        Self { workspace, spec, outline, cases, subjects }
    }

    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    pub fn outline(&self) -> &PlanOutline {
        &self.outline
    }

    pub fn subjects(&self) -> &[SubjectFile] {
        &self.subjects
    }

    /// Whether the filters left no case.
    pub fn is_empty(&self) -> bool {
        self.outline.is_empty()
    }

    /// The cases in the order of the plan.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        (0..self.cases.len()).map(|n| self.case(n))
    }

    /// The case at this place of the outline.
    pub(crate) fn case(&self, n: usize) -> &Case {
        let CaseIndex { suite, case } = self.cases[n];
        &self.workspace.suites[suite].cases[case]
    }

    /// Every subject that acts in the run: the evaluated ones, and those that play the peers of a case.
    pub(crate) fn acting_subjects(&self) -> Vec<&SubjectFile> {
        let mut all: Vec<&SubjectFile> = self.subjects.iter().collect();
        for file in self.cases().filter_map(|case| peer_subject(&self.workspace, case)) {
            if !all.iter().any(|one| one.name == file.name) {
                all.push(file);
            }
        }
        all
    }

    /// Models that cost money by the settings alone. Options do not count: a resumed run keeps its order.
    pub(super) fn live_models(&self) -> LiveModels<'_> {
        live_models(&self.spec, &self.workspace)
    }
}

fn live_models<'w>(spec: &RunSpec, workspace: &'w Workspace) -> LiveModels<'w> {
    let settings = &spec.settings;
    LiveModels {
        subjects: matches!(settings.allowed_live(workspace), None | Some(LiveRole::Subject)),
        judge: settings.live_judge(workspace),
        trials: settings.trials,
    }
}

/// Finds subjects in the workspace, or reads them off their name.
fn find_subjects(workspace: &Workspace, names: &[String]) -> Result<Vec<SubjectFile>, Vec<UserError>> {
    let mut found: Vec<SubjectFile> = vec![];
    let mut wrong = vec![];
    for name in names {
        match workspace.subject(name).cloned().map(Ok).or_else(|| inline_subject(name)) {
            None => {
                wrong.push(UserError::unknown("subject", name, workspace.subjects.iter().map(|subject| subject.name.as_str())));
            }
            Some(Err(why)) => wrong.push(why),
            Some(Ok(subject)) if found.iter().any(|one| one.name == subject.name) => {}
            Some(Ok(subject)) => found.push(subject),
        }
    }
    if wrong.is_empty() { Ok(found) } else { Err(wrong) }
}
