//! What the trials of a run share, looked up once, and the playing of one trial.

use crate::judging::ask_judge;
use crate::request::{Aides, Request};
use crate::summary::passed;
use futures::FutureExt;
use model::suite::{Case, Surface};
use model::transcript::Culprit;
use model::{Ending, Event, Hash, Outline, Score, SubjectFile, Transcript, Trial, Workspace, written_scores};
use run::subjects::Reference;
use run::user::cast_user;
use run::{Company, Limits, Scene, drive};
use score::scorers::{Evidence, Scorer, applying, score_with};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use store::{Ended, TrialRow};
use tokio::time::Instant;
use world::{Defence, Foreign, Setup, World, WorldTemplate};

pub(crate) struct Hall {
    workspace: Arc<Workspace>,
    outline: Outline,
    /// In the order of the outline.
    cases: Vec<Set>,
    subjects: Vec<Option<SubjectFile>>,
    company: Arc<Company>,
    aides: Aides,
    defence: Defence,
    foreign: Foreign,
    /// Whether what an agent merely claims is scored as if it had been seen.
    trust_claims: bool,
    /// Key of the run in the store.
    run: i64,
}

/// A case with what each of its trials needs.
struct Set {
    /// Which suite of the workspace, and which of its cases; absent where the workspace does not know it.
    at: Option<(usize, usize)>,
    stage: Option<Arc<WorldTemplate>>,
    scorers: Vec<&'static dyn Scorer>,
}

impl Hall {
    pub(crate) fn new(request: &Request, run: i64) -> Self {
        let Request { workspace, outline, claim, subjects, company, aides, defence, foreign, .. } = request;
        let mut places: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (suite, cases) in workspace.suites.iter().map(|suite| &suite.cases).enumerate() {
            for (n, case) in cases.iter().enumerate() {
                places.entry(&case.id).or_insert((suite, n));
            }
        }
        let mut stages: BTreeMap<&str, Option<Arc<WorldTemplate>>> = BTreeMap::new();
        let cases = outline.cases.iter().map(|planned| {
            let Some(at) = places.get(planned.case.as_str()).copied() else { return Set { at: None, stage: None, scorers: vec![] } };
            let case = &workspace.suites[at.0].cases[at.1];
            let world = case.brief.world.as_str();
            let stage = stages.entry(world).or_insert_with(|| WorldTemplate::new(workspace.clone(), world, request.chains.clone()).ok());
            Set { at: Some(at), stage: stage.clone(), scorers: applying(workspace, case) }
        });
        let cases = cases.collect();
        let file = |name: &str| subjects.iter().find(|subject| *subject.name == name).cloned();
        let subjects = outline.subjects.iter().map(|seated| file(&seated.subject)).collect();
        let (workspace, outline, company, aides) = (workspace.clone(), outline.clone(), company.clone(), aides.clone());
        let (defence, foreign, trust_claims) = (*defence, foreign.clone(), claim.trust_claims);
        Self { workspace, outline, cases, subjects, company, aides, defence, foreign, trust_claims, run }
    }

    /// One trial from its first word to its scores. A panic of ours ends this trial, not the run.
    pub(crate) async fn play(&self, n: u64) -> (TrialRow, Ended) {
        let began = Instant::now();
        let trial = self.outline.trial(n);
        let (case, subject) = self.outline.seat(n);
        let played = AssertUnwindSafe(self.drive(&trial, case, subject)).catch_unwind().await;
        let (events, ending) = played.unwrap_or_else(|_| (vec![], broken("the trial panicked".into())));
        let mut transcript =
            Transcript { trial: trial.id.clone(), case: trial.case.clone(), subject: trial.subject.clone(), events, ending };
        if let (Some(judge), Some(case)) = (&self.aides.judge, self.case(case)) {
            ask_judge(judge, case, trial.seed, &mut transcript).await;
        }
        let scores = self.score(case, &transcript);
        let (written, scored) = (transcript.written(), written_scores(&scores));
        let (passed, ending) = (passed(&transcript.ending, &scores), transcript.ending);
        let scores_hash = Hash::of_text(&scored);
        let ended = Ended { n, trial: trial.clone(), passed, content: written.content.clone(), ending, scores, scores_hash };
        let wall_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        (TrialRow { run: self.run, n, trial, passed, wall_us, written, scores: scored }, ended)
    }

    fn score(&self, case: usize, transcript: &Transcript) -> Vec<Score> {
        let trusted = (self.trust_claims && transcript.has_claims()).then(|| transcript.trusting_claims());
        let seen = trusted.as_ref().unwrap_or(transcript);
        let set = &self.cases[case];
        self.case(case).map(|case| score_with(&set.scorers, &Evidence::new(&self.workspace, case, seen))).unwrap_or_default()
    }

    fn case(&self, n: usize) -> Option<&Case> {
        self.cases[n].at.map(|(suite, case)| &self.workspace.suites[suite].cases[case])
    }

    async fn drive(&self, trial: &Trial, case: usize, subject: usize) -> (Vec<Event>, Ending) {
        let prepared = self.prepare(trial, case, subject).await;
        let (case, file, mut subject, mut world) = match prepared {
            Ok(prepared) => prepared,
            Err(why) => return (vec![], broken(why)),
        };
        let mut user = cast_user(&self.workspace, &case.brief.talk, self.aides.user.as_ref(), trial);
        let scene = Scene { workspace: &self.workspace, brief: &case.brief, limits: Limits::from(file.limits) };
        drive(scene, subject.as_mut(), user.as_mut(), world.as_mut()).await
    }

    async fn prepare(&self, trial: &Trial, case: usize, subject: usize) -> Result<Prepared<'_>, String> {
        let set = &self.cases[case];
        let case = self.case(case).ok_or_else(|| format!("case {} is not in the workspace", trial.case))?;
        let file = self.subjects[subject].as_ref().ok_or_else(|| format!("subject {} is unknown", trial.subject))?;
        let stage = set.stage.as_ref().ok_or_else(|| format!("world {} is not in the workspace", case.brief.world.value))?;
        let world =
            stage.open(Setup { peers: case.brief.peers.clone(), defence: self.defence, foreign: self.foreign.clone(), ..Setup::default() });
        let script = || Reference::new(case.reference.clone(), matches!(case.brief.surface, Surface::Profile(_)));
        let (subject, world) = self.company.set(trial, &case.brief, world, script).await.map_err(|error| error.to_string())?;
        Ok((case, file, subject, world))
    }
}

type Prepared<'h> = (&'h Case, &'h SubjectFile, Box<dyn run::Subject>, Box<dyn World>);

fn broken(why: String) -> Ending {
    Ending::Aborted { by: Culprit::Harness, why }
}
