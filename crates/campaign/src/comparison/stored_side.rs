//! Side of a comparison from a stored run, or from a run that has just ended.

use super::side_facts::{ComparedSide, SideFacts, SideSource};
use crate::red_team::StoredCases;
use crate::run_store::{RunHandle, RunStorage};
use crate::spec::{RunSettings, RunSpec};
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
    let source = SideSource::Run(Some(run.short_run_id().to_owned()));
    Ok(reader.finish(source, settings.as_ref(), &store.spending(run.run)?))
}

/// Reads one subject of a run that has just ended.
pub fn handle_side<'w>(
    workspace: &'w Workspace,
    handle: &RunHandle,
    plan: (&PlanOutline, &RunSettings),
    subject: &str,
    unjudged: UnjudgedTrials,
) -> Result<ComparedSide<'w>, StoreError> {
    let (outline, settings) = plan;
    let mut reader = SideReader::new(workspace, Some(outline), subject, unjudged);
    handle.for_each_ended(outline.len(), |ended| reader.add(ended))?;
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
        Self { workspace, hashes, subject, unjudged, readings, trials: 0, gone: 0, wall_us: 0, stored: None, is_config: false }
    }

    fn add(&mut self, ended: &EndedTrial) {
        if ended.trial.subject != self.subject {
            return;
        }
        self.trials += 1;
        self.wall_us += ended.wall_us;
        if self.is_config {
            let passed = match case_outcome(&ended.ending, &ended.scores) {
                CaseOutcome::Passed => Some(true),
                CaseOutcome::Failed => Some(false),
                CaseOutcome::Unjudged | CaseOutcome::Aborted { .. } => None,
            };
            self.readings.add_plain(&ended.trial.case, passed);
            return;
        }
        let found = match &mut self.stored {
            Some(stored) => stored.case(&ended.trial.case),
            None => self.workspace.case(&ended.trial.case),
        };
        let Some(case) = found else {
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

    fn finish(self, source: SideSource, settings: Option<&RunSettings>, spending: &[RoleSpending]) -> ComparedSide<'w> {
        let own = spending.iter().filter(|spent| spent.subject.as_deref() == Some(self.subject));
        let facts = SideFacts {
            source,
            subject: self.subject.to_owned(),
            noise: noise(self.workspace, self.subject, settings),
            trials: self.trials,
            gone: self.gone,
            spent: Money::from_nanos(own.map(|spent| spent.nanos).sum()),
            wall: Duration::from_micros(self.wall_us),
        };
        ComparedSide { facts, readings: self.readings }
    }
}

/// Returns whether trials of a subject may differ by chance. A judge or a simulated user with a model may, too.
fn noise(workspace: &Workspace, subject: &str, settings: Option<&RunSettings>) -> RunNoise {
    let is_deterministic = workspace.subject(subject).is_some_and(|file| file.provider.is_deterministic());
    let has_models = settings.is_none_or(|settings| settings.judge.is_some() || settings.user.is_some());
    if is_deterministic && !has_models { RunNoise::None } else { RunNoise::Sampled }
}
