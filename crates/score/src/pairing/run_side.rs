//! One side of a comparison: a run or a set of baselines, read trial by trial.

use super::side_case::SideCase;
use super::side_readings::SideReadings;
use crate::causes::{FailureCause, failure_causes};
use crate::gates::{GateJudge, MeasuredTrial, SliceReadings};
use model::suite::Case;
use model::{CaseOutcome, ContentHash, Gate, Reading, RunClaim, Score, ScorerId, Workspace};
use std::collections::BTreeMap;

/// Results of one subject by case, and readings by gate and slice.
#[derive(Debug)]
pub struct RunSide<'w> {
    workspace: &'w Workspace,
    gates: GateJudge<'w>,
    cases: BTreeMap<String, SideCase>,
}

/// One trial of a side.
#[derive(Debug, Clone, Copy)]
pub struct SideTrial<'t> {
    pub trial: &'t ContentHash,
    pub case: &'t Case,
    /// Hash of the case as it was run, if known.
    pub hash: Option<&'t ContentHash>,
    pub scores: &'t [Score],
    pub outcome: CaseOutcome,
}

impl<'w> RunSide<'w> {
    pub fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, gates: GateJudge::new(workspace, &RunClaim::default()), cases: BTreeMap::new() }
    }

    /// Adds a case of which only the result is known, as golden baselines have it. Gates on `case_pass` read it; others have no reading.
    pub fn add_result(&mut self, id: &str, case: Option<&Case>, passed: bool, hash: Option<ContentHash>) {
        self.cases.insert(id.to_owned(), SideCase { passed: u64::from(passed), judged: 1, hash, ..SideCase::default() });
        if let Some(case) = case {
            let scores = [Score::new(ScorerId::CasePass, Reading::from_bool(passed), vec![])];
            self.gates.add(&MeasuredTrial { trial: &case.hash, subject: "", case, scores: &scores, aborted: false, content: None });
        }
    }

    /// Adds a trial of a case that no workspace has, as results of other frameworks do. Without a result it says nothing.
    pub fn add_plain(&mut self, id: &str, passed: Option<bool>) {
        let side = self.cases.entry(id.to_owned()).or_default();
        match passed {
            Some(passed) => (side.passed, side.judged) = (side.passed + u64::from(passed), side.judged + 1),
            None => side.aborted += 1,
        }
    }

    /// Adds planned trials of a case that have not run.
    pub fn add_unplayed(&mut self, id: &str, hash: Option<&ContentHash>, trials: u64) {
        let side = self.cases.entry(id.to_owned()).or_default();
        side.unplayed += trials;
        side.hash = side.hash.take().or_else(|| hash.cloned());
    }

    pub fn add(&mut self, trial: &SideTrial<'_>) {
        let SideTrial { trial: id, case, hash, scores, outcome } = *trial;
        let side = self.cases.entry(case.id.value.clone()).or_default();
        side.hash = hash.cloned().or_else(|| side.hash.take());
        match outcome {
            CaseOutcome::Passed => (side.passed, side.judged) = (side.passed + 1, side.judged + 1),
            CaseOutcome::Failed => {
                if side.judged == side.passed {
                    side.trial = Some(id.short().to_owned());
                    side.causes = causes_or_scorer(scores);
                }
                side.judged += 1;
            }
            CaseOutcome::Unjudged => {}
            CaseOutcome::Aborted { .. } => side.aborted += 1,
        }
        side.trial.get_or_insert_with(|| id.short().to_owned());
        self.gates.add(&MeasuredTrial { trial: id, subject: "", case, scores, aborted: outcome.is_aborted(), content: None });
    }

    pub fn cases(&self) -> &BTreeMap<String, SideCase> {
        &self.cases
    }

    /// Returns what a comparison needs, without the workspace.
    pub fn readings(&self) -> SideReadings {
        SideReadings::of(&self.cases, self.slices())
    }

    pub(super) fn gate_list(&self) -> &'w [Gate] {
        &self.workspace.gates
    }

    pub(super) fn slices(&self) -> Vec<SliceReadings<'w>> {
        self.gates.slice_readings()
    }
}

/// Returns the causes of a failed trial; if its reasons name none, the first scorer that it missed.
fn causes_or_scorer(scores: &[Score]) -> Vec<FailureCause> {
    let causes: Vec<FailureCause> = failure_causes(scores).into_iter().collect();
    let missed = || scores.iter().find(|score| score.reading.is_violation() && score.scorer != ScorerId::CasePass);
    if causes.is_empty() { missed().map(|score| FailureCause::Rule(score.scorer.clone())).into_iter().collect() } else { causes }
}
