//! Runs and scores one trial of a prepared run.

use crate::judging::ask_judge;
use crate::prepare::PreparedRun;
use crate::scoring::{append_event, ask_scorers};
use futures::FutureExt;
use model::suite::Case;
use model::transcript::FaultSource;
use model::{ContentHash, Ending, Event, EventKind, SubjectFile, Transcript, Trial, scores_to_json};
use run::subjects::SubjectUnavailable;
use run::user::build_user;
use run::{ReplyTotals, SubjectInWorld, TrialContext, TrialLimits, drive};
use score::outcome::case_outcome;
use score::score_trial;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use store::{AgentOutput, EndedTrial, TrialRow};
use world::{DefenceMode, HoleFills, LiveWorld, WorldSettings};

pub(super) struct TrialRunner {
    prepared: PreparedRun,
    /// Key of the run in the store.
    run: i64,
}

/// Finished trial, in the forms for the store and for aggregation.
pub(super) struct TrialOutput {
    pub row: TrialRow,
    pub ended: EndedTrial,
}

/// Time for a signal that has ended an agent to reach this process too.
const INTERRUPT_GRACE: Duration = Duration::from_millis(250);

/// Result of driving a trial.
struct DrivenTrial {
    events: Vec<Event>,
    ending: Ending,
    output: Option<AgentOutput>,
}

impl From<Ending> for DrivenTrial {
    fn from(ending: Ending) -> Self {
        Self { events: vec![], ending, output: None }
    }
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

    /// Runs the trial with this index. A crash is held back for a moment: a Ctrl-C that has ended the agent ends this run too, and
    /// then the trial is dropped with its future.
    pub(super) async fn run_trial(&self, n: u64) -> TrialOutput {
        let output = self.run_at_once(n).await;
        if matches!(output.ended.ending, Ending::Crashed { .. }) {
            tokio::time::sleep(INTERRUPT_GRACE).await;
        }
        output
    }

    /// Runs a trial. A panic aborts this trial, not the run.
    async fn run_at_once(&self, n: u64) -> TrialOutput {
        let stopwatch = self.prepared.clock().stopwatch();
        let plan = self.prepared.plan();
        let trial = plan.outline().trial(n);
        let (at, subject) = plan.outline().case_and_subject(n);
        let driven = AssertUnwindSafe(self.drive(&trial, at, subject)).catch_unwind().await;
        let DrivenTrial { events, ending, output } = driven.unwrap_or_else(|_| harness_abort("the trial panicked".into()).into());
        let (events, ending) = self.redact(events, ending);
        let mut transcript =
            Transcript { trial: trial.id.clone(), case: trial.case.clone(), subject: trial.subject.clone(), events, ending };
        let case = plan.case(at);
        let claim = &plan.spec().settings.claim;
        let before = transcript.events.len();
        ask_scorers(&self.prepared.parts().scorers, plan.workspace(), case, claim, &mut transcript).await;
        if let Some(judge) = &self.prepared.parts().models.judge {
            ask_judge(judge, case, trial.seed, &mut transcript).await;
        }
        // Answers of scorers and of the judge are texts of others.
        if transcript.events.len() > before {
            (transcript.events, transcript.ending) = self.redact(transcript.events, transcript.ending);
        }
        let scores = score_trial(plan.workspace(), case, &self.prepared.case(at).scorers, &transcript, claim);
        let outcome = case_outcome(&transcript.ending, &scores);
        let (written, scored) = (transcript.to_serialized(), scores_to_json(&scores));
        let (content, scores_hash) = (written.content_hash.clone(), ContentHash::of_text(&scored));
        let wall_us = u64::try_from(stopwatch.elapsed().as_micros()).unwrap_or(u64::MAX);
        let ended = EndedTrial { n, trial: trial.clone(), content_hash: content, ending: transcript.ending, scores, scores_hash, wall_us };
        TrialOutput { row: TrialRow { run: self.run, n, trial, outcome, wall_us, transcript: written, scores: scored, output }, ended }
    }

    /// Removes the secrets of the run. Replies and moves have none left; events of the RPC may.
    fn redact(&self, events: Vec<Event>, ending: Ending) -> (Vec<Event>, Ending) {
        let secrets = &self.prepared.parts().secrets;
        let events = events.into_iter().map(|event| secrets.redact_item(event)).collect::<Result<Vec<_>, _>>();
        match (events, secrets.redact_item(ending)) {
            (Ok(events), Ok(ending)) => (events, ending),
            (Err(error), _) | (_, Err(error)) => (vec![], harness_abort(format!("an event cannot be stored: {error}"))),
        }
    }

    async fn drive(&self, trial: &Trial, case: usize, subject: usize) -> DrivenTrial {
        let TrialSetup { case, file, acting } = match self.set_up(trial, case, subject).await {
            Ok(setup) => setup,
            Err(why) => return harness_abort(why.to_string()).into(),
        };
        let SubjectInWorld { mut subject, mut world } = acting;
        let workspace = self.prepared.workspace();
        let mut user = build_user(workspace, &case.brief.user_script, self.prepared.parts().models.user.as_ref(), trial);
        let context = TrialContext { workspace, brief: &case.brief, limits: TrialLimits::from(file.limits) };
        let (mut events, ending) = drive(context, subject.as_mut(), user.as_mut(), world.as_mut()).await;
        let is_measured = case.expect.assertions.iter().any(|assertion| assertion.kind.measures_usage());
        if let Some(ReplyTotals { latency_ms, cost }) = subject.reply_totals().filter(|_| is_measured) {
            append_event(&mut events, "subject", EventKind::Used { latency_ms, cost });
        }
        let secrets = &self.prepared.parts().secrets;
        let output = subject.agent_output().await;
        let output = output.map(|output| AgentOutput { stderr: secrets.redact(&output.stderr).into_owned(), ..output });
        DrivenTrial { events, ending, output }
    }

    async fn set_up(&self, trial: &Trial, case: usize, subject: usize) -> Result<TrialSetup<'_>, TrialSetupError> {
        let (plan, parts, prepared) = (self.prepared.plan(), self.prepared.parts(), self.prepared.case(case));
        let (case, file) = (plan.case(case), &plan.subjects()[subject]);
        let missing = || TrialSetupError::NoWorld(case.brief.world.value.clone());
        let world = prepared.world.as_ref().ok_or_else(missing)?;
        let external = parts.subjects.has_external(trial, &case.brief);
        let world = if external { prepared.external_world.as_ref().ok_or(TrialSetupError::NoKey)? } else { world };
        let settings = world_settings(&self.prepared, case);
        let world = LiveWorld::new(world, settings);
        let acting = parts.subjects.instantiate(trial, &case.brief, world, || self.prepared.script(case, subject)).await?;
        Ok(TrialSetup { case, file, acting })
    }
}

/// Returns the settings of the world of a case.
pub(super) fn world_settings(prepared: &PreparedRun, case: &Case) -> WorldSettings {
    let defence = if prepared.plan().spec().settings.enforce { DefenceMode::Enforce } else { DefenceMode::Observe };
    WorldSettings {
        peers: case.brief.peers.clone(),
        defence,
        foreign: prepared.parts().foreign.clone(),
        case_fixtures: case.brief.fixtures.clone(),
        fills: HoleFills(case.brief.fills.clone()),
        faults: case.brief.faults.clone(),
        ..WorldSettings::default()
    }
}

/// Reason why a trial cannot start. A fault of the harness, never of the subject.
#[derive(Debug, thiserror::Error)]
enum TrialSetupError {
    #[error("world {0} is not in the workspace")]
    NoWorld(String),
    #[error("no random key could be made for the operator")]
    NoKey,
    #[error(transparent)]
    Subject(#[from] SubjectUnavailable),
}

pub(crate) fn harness_abort(why: String) -> Ending {
    Ending::Aborted { by: FaultSource::Harness, why }
}
