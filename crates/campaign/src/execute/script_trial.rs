//! Trial of a script, scored and not stored. A fixed judge answers the rubric.

use super::case_driver::{harness_abort, world_settings};
use crate::prepare::PreparedRun;
use crate::scoring::{append_event, ask_scorers};
use futures::FutureExt;
use model::transcript::JudgeGrade;
use model::{Case, Ending, Event, EventKind, Score, Transcript};
use run::subjects::Subject;
use run::user::build_user;
use run::{TrialContext, TrialLimits, drive};
use score::questions::trial_questions;
use score::score_trial;
use std::panic::AssertUnwindSafe;
use world::LiveWorld;

#[derive(Debug, Clone)]
pub(crate) struct ScriptedTrial {
    pub ending: Ending,
    pub scores: Vec<Score>,
}

/// Plays a scripted subject in the case with this index of the plan, or in a variant of it, and scores it.
pub(crate) async fn play_script(
    prepared: &PreparedRun,
    (at, case): (usize, &Case),
    subject: Box<dyn Subject>,
    grade: JudgeGrade,
) -> ScriptedTrial {
    let plan = prepared.plan();
    let claim = &plan.spec().settings.claim;
    let trial = plan.outline().trial(at as u64);
    let driven = AssertUnwindSafe(drive_script(prepared, (at, case), subject)).catch_unwind().await;
    let (events, ending) = driven.unwrap_or_else(|_| (vec![], harness_abort("the trial panicked".into())));
    let mut transcript = Transcript { trial: trial.id, case: trial.case, subject: trial.subject, events, ending };
    ask_scorers(&prepared.parts().scorers, plan.workspace(), case, claim, &mut transcript).await;
    let score = if grade == JudgeGrade::Pass { 5 } else { 1 };
    for question in trial_questions(case, &transcript) {
        let happened = EventKind::Judged { question: question.id, grade, score, reason: "fixed answer".to_owned() };
        append_event(&mut transcript.events, "judge", happened);
    }
    let scores = score_trial(plan.workspace(), case, &prepared.case(at).scorers, &transcript, claim);
    ScriptedTrial { ending: transcript.ending, scores }
}

async fn drive_script(prepared: &PreparedRun, (at, case): (usize, &Case), mut subject: Box<dyn Subject>) -> (Vec<Event>, Ending) {
    let (plan, workspace) = (prepared.plan(), prepared.workspace());
    let Some(world) = &prepared.case(at).world else {
        return (vec![], harness_abort(format!("world {} is not in the workspace", case.brief.world.value)));
    };
    let mut world = LiveWorld::new(world, world_settings(prepared, case, &case.brief));
    let trial = plan.outline().trial(at as u64);
    let mut user = build_user(workspace, case, None, &trial);
    let limits = TrialLimits::from(plan.subjects().first().map(|file| file.limits).unwrap_or_default());
    drive(TrialContext { workspace, brief: &case.brief, limits }, subject.as_mut(), user.as_mut(), &mut world).await
}
