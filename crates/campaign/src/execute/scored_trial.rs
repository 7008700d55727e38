//! Scoring of a driven trial, and trials of variants of a case, which no plan contains.

use super::case_driver::{CaseDriver, DrivenTrial, harness_abort};
use super::script_trial::{ScriptedTrial, play_script};
use crate::judging::ask_judge;
use crate::prepare::PreparedRun;
use crate::run_store::{RunHandle, RunStoreError};
use crate::scoring::ask_scorers;
use futures::FutureExt;
use model::transcript::JudgeGrade;
use model::{Case, CaseOutcome, ContentHash, Money, Score, Transcript, Trial};
use run::subjects::TrialScript;
use score::outcome::case_outcome;
use score::score_trial;
use serde_json::json;
use std::panic::AssertUnwindSafe;
use store::AgentOutput;

/// Trial with its scores.
#[derive(Debug)]
pub(crate) struct ScoredTrial {
    pub transcript: Transcript,
    pub scores: Vec<Score>,
    pub output: Option<AgentOutput>,
}

impl CaseDriver {
    /// Redacts a driven trial, asks scorers and the judge, and scores it.
    pub(super) async fn score(&self, trial: &Trial, at: usize, case: &Case, driven: DrivenTrial) -> ScoredTrial {
        let (plan, parts) = (self.prepared.plan(), self.prepared.parts());
        let DrivenTrial { events, ending, output } = driven;
        let (events, ending) = self.redact(events, ending);
        let mut transcript =
            Transcript { trial: trial.id.clone(), case: trial.case.clone(), subject: trial.subject.clone(), events, ending };
        let claim = &plan.spec().settings.claim;
        let before = transcript.events.len();
        ask_scorers(&parts.scorers, plan.workspace(), case, claim, &mut transcript).await;
        if let Some(judge) = &parts.models.judge {
            ask_judge(judge, case, trial.seed, &mut transcript).await;
        }
        // Answers of scorers and of the judge are texts of others.
        if transcript.events.len() > before {
            (transcript.events, transcript.ending) = self.redact(transcript.events, transcript.ending);
        }
        let scores = score_trial(plan.workspace(), case, &self.prepared.case(at).scorers, &transcript, claim);
        ScoredTrial { transcript, scores, output }
    }
}

/// Plays variants of one case of a prepared run. Trials are not stored; their model calls count against the budget of the run.
pub(crate) struct VariantPlayer {
    driver: CaseDriver,
    /// Index of the case in the plan.
    at: usize,
    subject: usize,
    played: u64,
}

impl VariantPlayer {
    /// Returns a player for a case and a subject of the plan.
    pub(crate) fn new(prepared: &PreparedRun, at: usize, subject: usize) -> Self {
        Self { driver: CaseDriver { prepared: prepared.clone() }, at, subject, played: 0 }
    }

    /// Opens the ledger of a run that only plays variants. The handle must outlive the player.
    pub(crate) fn open_ledger(prepared: &PreparedRun) -> Result<RunHandle, RunStoreError> {
        let handle = RunHandle::in_memory(prepared)?;
        prepared.funds().connect(handle.open_run(), Money::ZERO)?;
        Ok(handle)
    }

    /// Returns the number of trials so far.
    pub(crate) fn played(&self) -> u64 {
        self.played
    }

    pub(crate) fn case(&self) -> &Case {
        self.driver.prepared.plan().case(self.at)
    }

    /// Plays a trial of a variant with the subject. Every trial has its own seed.
    pub(crate) async fn play(&mut self, variant: &Case) -> ScoredTrial {
        let trial = self.next_trial(variant);
        let driven = AssertUnwindSafe(self.driver.drive_case(&trial, self.at, self.subject, variant)).catch_unwind().await;
        let driven = driven.unwrap_or_else(|_| harness_abort("the trial panicked".into()).into());
        self.driver.score(&trial, self.at, variant, driven).await
    }

    /// Returns whether the reference of a variant passes it, with a judge that grants every rubric.
    pub(crate) async fn reference_passes(&self, variant: &Case) -> bool {
        let reference = TrialScript::of_case(variant).careful();
        let ScriptedTrial { ending, scores } = play_script(&self.driver.prepared, (self.at, variant), reference, JudgeGrade::Pass).await;
        case_outcome(&ending, &scores) == CaseOutcome::Passed
    }

    fn next_trial(&mut self, variant: &Case) -> Trial {
        let plan = self.driver.prepared.plan();
        let n = (self.at * plan.subjects().len() + self.subject) as u64 * plan.spec().settings.trials;
        let planned = plan.outline().trial(n);
        self.played += 1;
        // Model calls are numbered per trial.
        let id = ContentHash::of_json(&json!([planned.id.as_str(), variant.hash.as_str(), self.played]));
        Trial { id, seed: planned.seed.saturating_add(self.played - 1), ..planned }
    }
}
