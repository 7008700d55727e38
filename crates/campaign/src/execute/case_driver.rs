//! Drives one trial: builds its world, subject and user, and plays it.

use crate::prepare::PreparedRun;
use crate::scoring::append_event;
use model::suite::{Brief, Case};
use model::transcript::FaultSource;
use model::{Ending, Event, EventKind, SubjectFile, Trial};
use run::subjects::SubjectUnavailable;
use run::user::build_user;
use run::{ReplyTotals, SubjectInWorld, TrialContext, TrialLimits, drive};
use store::AgentOutput;
use world::{DefenceMode, HoleFills, LiveWorld, WorldSettings};

#[derive(Debug)]
pub(super) struct CaseDriver {
    pub prepared: PreparedRun,
}

/// Result of driving a trial.
pub(super) struct DrivenTrial {
    pub events: Vec<Event>,
    pub ending: Ending,
    pub output: Option<AgentOutput>,
}

impl From<Ending> for DrivenTrial {
    fn from(ending: Ending) -> Self {
        Self { events: vec![], ending, output: None }
    }
}

/// Everything needed to drive one trial.
struct TrialSetup<'r> {
    file: &'r SubjectFile,
    acting: SubjectInWorld,
}

impl CaseDriver {
    /// Removes the secrets of the run. Replies and moves have none left; events of the RPC may.
    pub(super) fn redact(&self, events: Vec<Event>, ending: Ending) -> (Vec<Event>, Ending) {
        let secrets = &self.prepared.parts().secrets;
        let events = events.into_iter().map(|event| secrets.redact_item(event)).collect::<Result<Vec<_>, _>>();
        match (events, secrets.redact_item(ending)) {
            (Ok(events), Ok(ending)) => (events, ending),
            (Err(error), _) | (_, Err(error)) => (vec![], harness_abort(format!("an event cannot be stored: {error}"))),
        }
    }

    /// Drives a trial of a case, which is the one with this index of the plan or a variant of it in the same world.
    pub(super) async fn drive_case(&self, trial: &Trial, at: usize, subject: usize, case: &Case) -> DrivenTrial {
        let brief = &case.brief;
        let TrialSetup { file, acting } = match self.set_up(trial, at, subject, case).await {
            Ok(setup) => setup,
            Err(why) => return harness_abort(why.to_string()).into(),
        };
        let SubjectInWorld { mut subject, mut world } = acting;
        let workspace = self.prepared.workspace();
        let mut user = build_user(workspace, case, self.prepared.parts().models.user.as_ref(), trial);
        let context = TrialContext { workspace, brief, limits: TrialLimits::from(file.limits) };
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

    async fn set_up(&self, trial: &Trial, at: usize, subject: usize, case: &Case) -> Result<TrialSetup<'_>, TrialSetupError> {
        let (plan, parts, prepared) = (self.prepared.plan(), self.prepared.parts(), self.prepared.case(at));
        let (brief, file) = (&case.brief, &plan.subjects()[subject]);
        let missing = || TrialSetupError::NoWorld(brief.world.value.clone());
        let world = prepared.world.as_ref().ok_or_else(missing)?;
        let external = parts.subjects.has_external(trial, brief);
        let world = if external { prepared.external_world.as_ref().ok_or(TrialSetupError::NoKey)? } else { world };
        let settings = world_settings(&self.prepared, case, brief);
        let world = LiveWorld::new(world, settings);
        let acting = parts.subjects.instantiate(trial, brief, world, || self.prepared.script(case, subject)).await?;
        Ok(TrialSetup { file, acting })
    }
}

/// Returns the settings of the world of a case; its brief may be reworded.
pub(super) fn world_settings(prepared: &PreparedRun, case: &Case, brief: &Brief) -> WorldSettings {
    let defence = if prepared.plan().spec().settings.enforce { DefenceMode::Enforce } else { DefenceMode::Observe };
    WorldSettings {
        peers: brief.peers.clone(),
        defence,
        foreign: prepared.parts().foreign.clone(),
        accepts_writes: case.attack.is_some(),
        case_fixtures: brief.fixtures.clone(),
        fills: HoleFills(brief.fills.clone()),
        faults: brief.faults.clone(),
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
