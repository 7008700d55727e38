//! Run whose cases and subjects are resolved.

use super::affordable::affordable_cases;
use super::outline::{outline, peer_subject};
use crate::cost::{LiveModels, ReachState, gate_reach, order_by_gate_need, trial_quotes};
use crate::red_team::{attack_workspace, with_case_files};
use crate::spec::{RunSettings, RunSpec, inline_subject, select, unknown_subject};
use attack::covering_cases;
use model::suite::Case;
use model::{CasePosition, ContentHash, LiveRole, PlanOutline, SubjectFile, UserError, Workspace};
use score::checks::{CheckFinding, unknown_case_names};
use serde_json::json;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct RunPlan {
    workspace: Arc<Workspace>,
    spec: RunSpec,
    outline: PlanOutline,
    /// In the order of the outline.
    cases: Vec<CasePosition>,
    subjects: Vec<SubjectFile>,
    /// Number of selected cases beyond the budget of the tier, which are not planned.
    left_out: usize,
}

impl RunPlan {
    /// Resolves all names.
    ///
    /// # Errors
    /// All mistakes together.
    pub fn resolve(spec: RunSpec, workspace: Arc<Workspace>) -> Result<Self, Vec<UserError>> {
        let workspace = attack_workspace(with_case_files(workspace, &spec.settings.case_files)?, &spec);
        let settings = &spec.settings;
        let (cases, subjects) = match (select(&workspace, &settings.selection()), find_subjects(&workspace, settings)) {
            (Ok(cases), Ok(subjects)) => {
                let cases = if settings.pairwise { covering_cases(&cases) } else { cases };
                (limited(cases, settings.limit), subjects)
            }
            (cases, subjects) => {
                let unknown = cases.err().unwrap_or_default().into_iter().map(UserError::from).collect::<Vec<_>>();
                return Err([unknown, subjects.err().unwrap_or_default()].concat());
            }
        };
        let files: Vec<&SubjectFile> = subjects.iter().collect();
        let live = live_models(&spec, &workspace);
        let has_models = subjects.iter().any(|subject| subject.provider.is_llm()) || live.judge.is_some();
        let (cases, left_out) = if has_models {
            let mut cases = order_by_gate_need(&workspace, settings.claim, &cases, &trial_quotes(&workspace, &cases, &files, &live));
            let selected = cases.len();
            cases.truncate(affordable_cases(&workspace, settings, &cases, &files, &live));
            let left_out = selected - cases.len();
            (cases, left_out)
        } else {
            (cases, 0)
        };
        let cases = if settings.stop_when_decided { shuffled(cases, settings.seed) } else { cases };
        let case_ids: Vec<String> = cases.iter().map(|case| case.id.value.clone()).collect();
        let mut outline = outline(&workspace, &cases, &files, settings.trials, settings.seed);
        if let Some(guard) = &settings.guard {
            add_guard(&mut outline, guard);
        }
        Ok(Self { left_out, ..Self::assemble(workspace, spec, outline, &case_ids, subjects) })
    }

    /// Returns a plan of exactly these cases and subjects.
    pub fn from_cases(spec: RunSpec, workspace: &Arc<Workspace>, cases: &[&Case], subjects: &[&SubjectFile]) -> Self {
        let outline = outline(workspace, cases, subjects, spec.settings.trials, spec.settings.seed);
        let case_ids: Vec<String> = cases.iter().map(|case| case.id.value.clone()).collect();
        Self::assemble(workspace.clone(), spec, outline, &case_ids, subjects.iter().map(|file| (*file).clone()).collect())
    }

    fn assemble(workspace: Arc<Workspace>, spec: RunSpec, outline: PlanOutline, cases: &[String], subjects: Vec<SubjectFile>) -> Self {
        // The cases come from this workspace, so all are found.
        let cases = cases.iter().filter_map(|id| workspace.case_position(id)).collect();
        Self { workspace, spec, outline, cases, subjects, left_out: 0 }
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

    /// Returns the number of selected cases that are not planned, because the budget of the tier likely does not cover them.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Returns the number of slices in scope that have enough cases, but too few without a judge. It is 0 if the run has a judge.
    pub fn undecided_without_judge(&self) -> usize {
        if self.spec.settings.judge.is_some() {
            return 0;
        }
        let cases: Vec<&Case> = self.cases().collect();
        let reach = gate_reach(&self.workspace, self.spec.settings.claim, &cases, cases.len(), false);
        reach.iter().filter(|slice| slice.state == ReachState::NeedsJudge).count()
    }

    /// Returns true if no case matched the filters.
    pub fn is_empty(&self) -> bool {
        self.outline.is_empty()
    }

    /// Returns the cases in plan order.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        (0..self.cases.len()).map(|n| self.case(n))
    }

    /// Returns the names in the selected cases that do not exist. A run would blame the subject for them. Attacks are made from cases.
    pub fn unknown_names(&self) -> Vec<CheckFinding> {
        let written = self.cases().filter(|case| case.attack.is_none());
        written.flat_map(|case| unknown_case_names(self.workspace(), case)).collect()
    }

    /// Returns the case with this index in the outline.
    pub(crate) fn case(&self, n: usize) -> &Case {
        let CasePosition { suite, case } = self.cases[n];
        &self.workspace.suites[suite].cases[case]
    }

    /// Returns all subjects of the run: the evaluated ones, and those that play peers.
    pub(crate) fn acting_subjects(&self) -> Vec<&SubjectFile> {
        let mut all: Vec<&SubjectFile> = self.subjects.iter().collect();
        for file in self.cases().filter_map(|case| peer_subject(&self.workspace, case)) {
            if !all.iter().any(|one| one.name == file.name) {
                all.push(file);
            }
        }
        all
    }

    /// Returns the live models by settings alone. Options are ignored, so that a resumed run keeps its order.
    pub(super) fn live_models(&self) -> LiveModels<'_> {
        live_models(&self.spec, &self.workspace)
    }
}

/// Makes the guard a part of the configuration of every subject.
fn add_guard(outline: &mut PlanOutline, guard: &str) {
    for subject in &mut outline.subjects {
        subject.configuration = ContentHash::of_json(&json!([subject.configuration.as_str(), guard]));
    }
}

fn live_models<'w>(spec: &RunSpec, workspace: &'w Workspace) -> LiveModels<'w> {
    let settings = &spec.settings;
    LiveModels {
        subjects: matches!(settings.allowed_live(workspace), None | Some(LiveRole::Subject)),
        judge: settings.live_judge(workspace),
        attacker: settings.attacker.as_ref().and_then(|attacker| workspace.subject(&attacker.model)),
        trials: settings.trials,
    }
}

/// Orders cases by chance, from the seed: a run that may stop must not depend on which cases come first in their files.
fn shuffled(mut cases: Vec<&Case>, seed: u64) -> Vec<&Case> {
    cases.sort_by_cached_key(|case| ContentHash::of_text(&format!("{seed} {}", case.id.value)));
    cases
}

/// Keeps the first cases, in file order.
fn limited(mut cases: Vec<&Case>, limit: Option<u64>) -> Vec<&Case> {
    cases.truncate(limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)));
    cases
}

/// Finds subjects in the workspace, or parses inline subjects, which get the time limit of the run.
fn find_subjects(workspace: &Workspace, settings: &RunSettings) -> Result<Vec<SubjectFile>, Vec<UserError>> {
    let mut found: Vec<SubjectFile> = vec![];
    let mut errors = vec![];
    for name in &settings.subjects {
        match workspace.subject(name).cloned().map(Ok).or_else(|| inline_subject(name)) {
            None => errors.push(unknown_subject(workspace, name)),
            Some(Err(why)) => errors.push(why),
            Some(Ok(subject)) if found.iter().any(|one| one.name == subject.name) => {}
            Some(Ok(subject)) if settings.timeout.is_some() && workspace.subject(name).is_some() => errors.push(timeout_error(&subject)),
            Some(Ok(mut subject)) => {
                subject.limits.seconds = settings.timeout.filter(|_| subject.external.is_some()).unwrap_or(subject.limits.seconds);
                found.push(subject);
            }
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

fn timeout_error(subject: &SubjectFile) -> UserError {
    let what = format!("--timeout is for agents given on the command line, and \"{}\" has a file", subject.name.value);
    UserError::new(what, format!("set limits: {{ seconds: … }} in {}", subject.at.file))
}
