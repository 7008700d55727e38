//! Runs one trial of a prepared run, from its first word to its scores.

use crate::judging::ask_judge;
use crate::prepare::PreparedRun;
use futures::FutureExt;
use model::suite::{Case, Surface};
use model::transcript::Culprit;
use model::{Ending, Event, Hash, SubjectFile, Transcript, Trial, written_scores};
use run::subjects::{NotAvailable, Reference};
use run::user::cast_user;
use run::{Limits, Scene, SubjectInWorld, drive};
use score::outcome::case_outcome;
use score::score_trial;
use std::panic::AssertUnwindSafe;
use store::{EndedTrial, TrialRow};
use world::{Defence, LiveWorld, Setup};

pub(super) struct TrialRunner {
    prepared: PreparedRun,
    /// Key of the run in the store.
    run: i64,
}

/// A trial that ended: as it is stored, and as it is aggregated.
pub(super) struct TrialOutput {
    pub row: TrialRow,
    pub ended: EndedTrial,
}

/// Everything needed to drive one trial.
struct TrialSetup<'r> {
    case: &'r Case,
    file: &'r SubjectFile,
    acting: SubjectInWorld,
}

impl TrialRunner {
    pub(super) fn new(prepared: PreparedRun, run: i64) -> Self {
        Self { prepared, run }
    }

    /// Runs the trial at this place of the plan. A panic of ours ends this trial, not the run.
    pub(super) async fn run_trial(&self, n: u64) -> TrialOutput {
        let stopwatch = self.prepared.clock().stopwatch();
        let plan = self.prepared.plan();
        let trial = plan.outline().trial(n);
        let (at, subject) = plan.outline().seat(n);
        let driven = AssertUnwindSafe(self.drive(&trial, at, subject)).catch_unwind().await;
        let (events, ending) = driven.unwrap_or_else(|_| (vec![], aborted("the trial panicked".into())));
        let mut transcript =
            Transcript { trial: trial.id.clone(), case: trial.case.clone(), subject: trial.subject.clone(), events, ending };
        let case = plan.case(at);
        if let Some(judge) = &self.prepared.parts().models.judge {
            ask_judge(judge, case, trial.seed, &mut transcript).await;
        }
        let claim = &plan.spec().settings.claim;
        let scores = score_trial(plan.workspace(), case, &self.prepared.case(at).scorers, &transcript, claim);
        let outcome = case_outcome(&transcript.ending, &scores);
        let (written, scored) = (transcript.written(), written_scores(&scores));
        let (content, scores_hash) = (written.content.clone(), Hash::of_text(&scored));
        let ended = EndedTrial { n, trial: trial.clone(), content, ending: transcript.ending, scores, scores_hash };
        let wall_us = u64::try_from(stopwatch.elapsed().as_micros()).unwrap_or(u64::MAX);
        TrialOutput { row: TrialRow { run: self.run, n, trial, outcome, wall_us, written, scores: scored }, ended }
    }

    async fn drive(&self, trial: &Trial, case: usize, subject: usize) -> (Vec<Event>, Ending) {
        let TrialSetup { case, file, acting } = match self.set_up(trial, case, subject).await {
            Ok(setup) => setup,
            Err(why) => return (vec![], aborted(why.to_string())),
        };
        let SubjectInWorld { mut subject, mut world } = acting;
        let workspace = self.prepared.workspace();
        let mut user = cast_user(workspace, &case.brief.talk, self.prepared.parts().models.user.as_ref(), trial);
        let scene = Scene { workspace, brief: &case.brief, limits: Limits::from(file.limits) };
        drive(scene, subject.as_mut(), user.as_mut(), world.as_mut()).await
    }

    async fn set_up(&self, trial: &Trial, case: usize, subject: usize) -> Result<TrialSetup<'_>, SetupError> {
        let (plan, parts, prepared) = (self.prepared.plan(), self.prepared.parts(), self.prepared.case(case));
        let (case, file) = (plan.case(case), &plan.subjects()[subject]);
        let world = prepared.world.as_ref().ok_or_else(|| SetupError::NoWorld(case.brief.world.value.clone()))?;
        let defence = if plan.spec().settings.enforce { Defence::Enforce } else { Defence::Observe };
        let world =
            LiveWorld::new(world, Setup { peers: case.brief.peers.clone(), defence, foreign: parts.foreign.clone(), ..Setup::default() });
        let script = || Reference::new(case.reference.clone(), matches!(case.brief.surface, Surface::Profile(_)));
        let acting = parts.subjects.instantiate(trial, &case.brief, world, script).await?;
        Ok(TrialSetup { case, file, acting })
    }
}

/// Reason that a trial cannot begin. A fault of the harness, never of the subject.
#[derive(Debug, thiserror::Error)]
enum SetupError {
    #[error("world {0} is not in the workspace")]
    NoWorld(String),
    #[error(transparent)]
    Subject(#[from] NotAvailable),
}

fn aborted(why: String) -> Ending {
    Ending::Aborted { by: Culprit::Harness, why }
}
