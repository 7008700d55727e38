//! From a plan to a record: run every trial, score what can be scored, judge the gates.

use crate::record::record;
use futures::StreamExt;
use futures::stream;
use model::suite::{Peers, Surface};
use model::transcript::Culprit;
use model::{Claim, Ending, Plan, RunRecord, SubjectFile, Transcript, Trial, Workspace};
use run::subjects::{Company, Hiring, NotAvailable, Reference};
use run::user::{User, user_of};
use run::{Go, Limits, Scene, Watcher, drive};
use std::collections::BTreeMap;
use std::sync::Arc;
use world::{ChainKind, Defence, LiveWorld, Setup, Stage};

#[derive(Debug)]
pub struct Request<'r> {
    pub workspace: Arc<Workspace>,
    pub plan: Plan,
    pub claim: Claim,
    pub concurrency: usize,
    /// What the chains run on.
    pub chains: ChainKind,
    /// Whether hooks stop a call or only note that they would.
    pub defence: Defence,
    pub subjects: Vec<&'r SubjectFile>,
}

/// Runs the plan. Results do not depend on concurrency: transcripts are kept in the order of the plan.
pub async fn execute(request: Request<'_>, watcher: &mut dyn Watcher) -> RunRecord {
    let Request { workspace, plan, claim, concurrency, .. } = &request;
    let stages = Stages::of(&request);
    let company = Company::hire(workspace, &request.subjects, &Hiring::nobody());
    let mut finished =
        stream::iter(&plan.trials).map(|trial| run_trial(&request, &stages, &company, trial)).buffered((*concurrency).max(1));
    let mut transcripts = vec![];
    while let Some(transcript) = finished.next().await {
        let go = watcher.finished(&plan.trials[transcripts.len()], &transcript);
        transcripts.push(transcript);
        if go == Go::Stop {
            break;
        }
    }
    drop(finished);
    record(workspace, plan.clone(), transcripts, *claim)
}

/// Everybody who plays, or all who cannot.
type Hired = Result<Company, Vec<NotAvailable>>;

/// The worlds of a plan, each set up once.
struct Stages(BTreeMap<String, Arc<Stage>>);

impl Stages {
    fn of(request: &Request<'_>) -> Self {
        let cases = request.plan.trials.iter().filter_map(|trial| request.workspace.case(&trial.case));
        let mut stages = BTreeMap::new();
        for case in cases {
            let name = case.brief.world.value.clone();
            if !stages.contains_key(&name)
                && let Ok(stage) = Stage::new(request.workspace.clone(), &name, request.chains.clone())
            {
                stages.insert(name, stage);
            }
        }
        Self(stages)
    }
}

async fn run_trial(request: &Request<'_>, stages: &Stages, company: &Hired, trial: &Trial) -> Transcript {
    let workspace = &request.workspace;
    let (events, ending) = match prepare(request, stages, company, trial) {
        Ok((case, file, mut subject, mut user, mut world)) => {
            let scene = Scene { workspace, brief: &case.brief, limits: Limits::from(file.limits) };
            drive(scene, subject.as_mut(), user.as_mut(), &mut world).await
        }
        Err(why) => (vec![], Ending::Aborted { by: Culprit::Harness, why }),
    };
    Transcript { trial: trial.id.clone(), case: trial.case.clone(), subject: trial.subject.clone(), events, ending }
}

type Prepared<'w> = (&'w model::Case, &'w SubjectFile, Box<dyn run::Subject>, Box<dyn User>, LiveWorld);

fn prepare<'w>(request: &'w Request<'_>, stages: &Stages, company: &Hired, trial: &Trial) -> Result<Prepared<'w>, String> {
    let Request { workspace, subjects, defence, .. } = request;
    let case = workspace.case(&trial.case).ok_or_else(|| format!("case {} is not in the workspace", trial.case))?;
    let file =
        subjects.iter().find(|subject| *subject.name == trial.subject).ok_or_else(|| format!("subject {} is unknown", trial.subject))?;
    if let Peers::Subject(name) = &case.brief.peers {
        return Err(format!("this version cannot let {name} play the peers"));
    }
    let company = company.as_ref().map_err(|missing| missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let at_once = matches!(case.brief.surface, Surface::Profile(_));
    let script = || Reference::new(case.reference.clone(), at_once);
    let subject = company.seat(trial, script).ok_or_else(|| format!("subject {} was not hired", trial.subject))?;
    let stage =
        stages.0.get(case.brief.world.as_str()).ok_or_else(|| format!("world {} is not in the workspace", case.brief.world.value))?;
    let world = stage.open(Setup { peers: case.brief.peers.clone(), defence: *defence, ..Setup::default() });
    let user = user_of(workspace, &case.brief.talk, trial.seed);
    Ok((case, file, subject, user, world))
}
