//! Side of a comparison from a stored run, or from a run that has just ended.

use super::side_facts::{ComparedSide, SideFacts, SideSource};
use crate::red_team::StoredCases;
use crate::run_store::{RunHandle, RunStorage};
use crate::spec::{RunSettings, RunSpec};
use crate::summary::RunSummary;
use model::suite::Case;
use model::{CaseOutcome, ContentHash, Money, PlanOutline, Workspace};
use score::outcome::case_outcome;
use score::pairing::{RunNoise, RunSide, SideTrial};
use std::collections::HashMap;
use std::time::Duration;
use store::{EndedTrial, RoleSpending, Store, StoreError, StoredRun};

/// Result of trials without a verdict of the judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnjudgedTrials {
    /// They have none.
    NoResult,
    /// They passed as far as the other expectations go, as golden baselines count them.
    Pass,
}

/// Reads one subject of a stored run.
pub fn stored_side<'w>(
    workspace: &'w Workspace,
    store: &Store,
    run: &StoredRun,
    subject: &str,
    unjudged: UnjudgedTrials,
) -> Result<ComparedSide<'w>, StoreError> {
    store.check_format(run)?;
    let settings = RunSpec::from_stored(&run.settings, None, None).ok().map(|spec| spec.settings);
    let mut reader = SideReader::new(workspace, run.plan.as_ref(), subject, unjudged);
    reader.is_config = is_config(&run.settings);
    reader.stored = Some(StoredCases::new(workspace, run));
    store.for_each_ended(run.run, |ended| reader.add(&ended))?;
    if run.record.is_none() {
        reader.add_unplayed(run.plan.as_ref());
    }
    let source = SideSource::Run(Some(run.short_run_id().to_owned()));
    Ok(reader.finish(source, settings.as_ref(), &store.spending(run.run)?))
}

/// Run that has just ended or was interrupted.
#[derive(Debug, Clone, Copy)]
pub struct LiveRun<'r> {
    pub handle: &'r RunHandle,
    pub outline: &'r PlanOutline,
    pub settings: &'r RunSettings,
    pub summary: &'r RunSummary,
}

/// Reads one subject of a run that has just ended.
pub fn handle_side<'w>(
    workspace: &'w Workspace,
    run: LiveRun<'_>,
    subject: &str,
    unjudged: UnjudgedTrials,
) -> Result<ComparedSide<'w>, StoreError> {
    let LiveRun { handle, outline, settings, summary } = run;
    let mut reader = SideReader::new(workspace, Some(outline), subject, unjudged);
    handle.for_each_ended(outline.len(), |ended| reader.add(ended))?;
    if !summary.is_final() {
        reader.add_unplayed(Some(outline));
    }
    let id = (handle.storage() == RunStorage::Store).then(|| handle.short_id().to_owned());
    Ok(reader.finish(SideSource::Run(id), Some(settings), &handle.spending()?))
}

struct SideReader<'w, 's> {
    workspace: &'w Workspace,
    hashes: HashMap<&'s str, &'s ContentHash>,
    subject: &'s str,
    unjudged: UnjudgedTrials,
    readings: RunSide<'w>,
    trials: u64,
    gone: u64,
    wall_us: u64,
    unplayed: u64,
    /// Ended trials by case.
    ended: HashMap<String, u64>,
    /// Cases of a stored run that the workspace does not have.
    stored: Option<StoredCases<'w>>,
    /// The run is of a config of another framework, whose cases no workspace has.
    is_config: bool,
}

fn is_config(settings: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(settings).is_ok_and(|settings| settings.get("config").is_some())
}

impl<'w, 's> SideReader<'w, 's> {
    fn new(workspace: &'w Workspace, plan: Option<&'s PlanOutline>, subject: &'s str, unjudged: UnjudgedTrials) -> Self {
        let hashes = plan.map(|plan| plan.cases.iter().map(|planned| (planned.case.as_str(), &planned.hash)).collect());
        let (hashes, readings) = (hashes.unwrap_or_default(), RunSide::new(workspace));
        Self {
            workspace,
            hashes,
            subject,
            unjudged,
            readings,
            trials: 0,
            gone: 0,
            wall_us: 0,
            unplayed: 0,
            ended: HashMap::new(),
            stored: None,
            is_config: false,
        }
    }

    fn add(&mut self, ended: &EndedTrial) {
        if ended.trial.subject != self.subject {
            return;
        }
        self.trials += 1;
        self.wall_us += ended.wall_us;
        *self.ended.entry(ended.trial.case.clone()).or_default() += 1;
        if self.is_config {
            let passed = match case_outcome(&ended.ending, &ended.scores) {
                CaseOutcome::Passed => Some(true),
                CaseOutcome::Failed => Some(false),
                CaseOutcome::Unjudged | CaseOutcome::Aborted { .. } => None,
            };
            self.readings.add_plain(&ended.trial.case, passed);
            return;
        }
        let Some(case) = find_case(&mut self.stored, self.workspace, &ended.trial.case) else {
            self.gone += 1;
            return;
        };
        let outcome = match (case_outcome(&ended.ending, &ended.scores), self.unjudged) {
            (CaseOutcome::Unjudged, UnjudgedTrials::Pass) => CaseOutcome::Passed,
            (outcome, UnjudgedTrials::Pass | UnjudgedTrials::NoResult) => outcome,
        };
        let hash = self.hashes.get(ended.trial.case.as_str()).copied();
        self.readings.add(&SideTrial { trial: &ended.trial.id, case, hash, scores: &ended.scores, outcome });
    }

    /// Adds the trials of the plan that have not run.
    fn add_unplayed(&mut self, plan: Option<&PlanOutline>) {
        let Some(plan) = plan.filter(|plan| plan.subjects.iter().any(|planned| planned.subject == self.subject)) else { return };
        for planned in &plan.cases {
            let left = plan.trials.saturating_sub(self.ended.get(&planned.case).copied().unwrap_or_default());
            let is_known = self.is_config || find_case(&mut self.stored, self.workspace, &planned.case).is_some();
            if left > 0 && is_known {
                let hash = Some(&planned.hash).filter(|_| !self.is_config);
                self.readings.add_unplayed(&planned.case, hash, left);
                self.unplayed += left;
            }
        }
    }

    fn finish(self, source: SideSource, settings: Option<&RunSettings>, spending: &[RoleSpending]) -> ComparedSide<'w> {
        let own = spending.iter().filter(|spent| spent.subject.as_deref() == Some(self.subject));
        let facts = SideFacts {
            source,
            subject: self.subject.to_owned(),
            noise: noise(self.workspace, self.subject, settings),
            trials: self.trials,
            gone: self.gone,
            unplayed: self.unplayed,
            spent: Money::from_nanos(own.map(|spent| spent.nanos).sum()),
            wall: Duration::from_micros(self.wall_us),
        };
        ComparedSide { facts, readings: self.readings }
    }
}

/// Returns a case of the workspace, or of the stored run.
fn find_case<'c>(stored: &'c mut Option<StoredCases<'_>>, workspace: &'c Workspace, id: &str) -> Option<&'c Case> {
    match stored {
        Some(stored) => stored.case(id),
        None => workspace.case(id),
    }
}

/// Returns whether trials of a subject may differ by chance. A judge or a simulated user with a model may, too.
fn noise(workspace: &Workspace, subject: &str, settings: Option<&RunSettings>) -> RunNoise {
    let is_deterministic = workspace.subject(subject).is_some_and(|file| file.provider.is_deterministic());
    let has_models = settings.is_none_or(|settings| settings.judge.is_some() || settings.user.is_some());
    if is_deterministic && !has_models { RunNoise::None } else { RunNoise::Sampled }
}
