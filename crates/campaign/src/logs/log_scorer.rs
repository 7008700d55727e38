//! Scores one recording.

use super::unknown_case::{EXPECTATION_FREE, held_to_rules_of_agents, unknown_case};
use foreign::{AttackQuestion, AttackSigns, LogReading, LogRecording, VerdictPair, attack_signs, log_readings};
use model::{Case, Reading, RunClaim, Score, ScorerId, Workspace};
use score::production::{MinedValue, mined_values};
use score::score_trial;
use score::scorers::{Evidence, Scorer, scorers_for_case};

/// Scores recordings with the scorers that their case allows.
#[derive(Debug)]
pub struct LogScorer<'w> {
    workspace: Option<&'w Workspace>,
    question: AttackQuestion,
    claim: RunClaim,
    /// World whose prices value effects, for recordings without a case.
    priced_by: String,
    /// Recordings are live traffic, in which every sender is held to the rules of agents.
    is_traffic: bool,
}

/// Knowledge about the case of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseKnowledge {
    /// The workspace has the case: all its scorers read the recording.
    Known,
    /// The workspace does not have the case: scorers that need expectations are not exercised.
    Unknown,
    /// There is no workspace.
    NoWorkspace,
}

/// Recording with everything that is read from it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredRecording {
    pub case: CaseKnowledge,
    pub scores: Vec<Score>,
    pub readings: Vec<LogReading>,
    pub signs: Option<AttackSigns>,
    pub pairs: Vec<VerdictPair>,
}

impl<'w> LogScorer<'w> {
    pub fn new(workspace: Option<&'w Workspace>, question: AttackQuestion, claim: RunClaim) -> Self {
        Self { workspace, question, claim, priced_by: String::new(), is_traffic: false }
    }

    /// Reads live traffic: without a case, effects are valued at the prices of a world, and the rules of agents hold for every name.
    pub fn of_traffic(self, world: &str) -> Self {
        Self { priced_by: world.to_owned(), is_traffic: true, ..self }
    }

    pub fn score(&self, recording: &LogRecording) -> ScoredRecording {
        let (case, scores) = match self.workspace {
            Some(workspace) => self.score_in(workspace, recording),
            None => (CaseKnowledge::NoWorkspace, vec![]),
        };
        // An aborted run is an error, never a score.
        let is_scorable = recording.transcript.ending.is_scorable();
        let readings = if is_scorable { log_readings(recording) } else { vec![] };
        let signs = attack_signs(recording, &self.question);
        let pairs = VerdictPair::all(recording, case_pass(&scores), signs.as_ref());
        ScoredRecording { case, scores, readings, signs, pairs }
    }

    fn score_in(&self, workspace: &Workspace, recording: &LogRecording) -> (CaseKnowledge, Vec<Score>) {
        let score =
            |case: &Case, scorers: &[&'static dyn Scorer]| score_trial(workspace, case, scorers, &recording.transcript, &self.claim);
        if let Some(case) = workspace.case(&recording.transcript.case) {
            return (CaseKnowledge::Known, score(case, &scorers_for_case(workspace, case)));
        }
        (CaseKnowledge::Unknown, self.score_without_expectations(recording, &[]))
    }

    /// Scores a recording as if its case were unknown, with more scorers than logs of others exercise. Without a workspace there are no
    /// scores.
    pub fn score_without_expectations(&self, recording: &LogRecording, more: &[ScorerId]) -> Vec<Score> {
        let Some(workspace) = self.workspace else { return vec![] };
        let case = self.case_of(workspace, recording);
        let mut scorers = scorers_for_case(workspace, &case);
        scorers.retain(|scorer| EXPECTATION_FREE.contains(&scorer.id()) || more.contains(&scorer.id()));
        score_trial(workspace, &case, &scorers, &recording.transcript, &self.claim)
    }
}

impl LogScorer<'_> {
    fn case_of(&self, workspace: &Workspace, recording: &LogRecording) -> Case {
        let case = unknown_case(workspace, recording, &self.priced_by);
        if self.is_traffic { held_to_rules_of_agents(case, recording) } else { case }
    }

    /// Returns the value of every transaction of a recording. Without a workspace there is none.
    pub fn mined_values(&self, recording: &LogRecording) -> Vec<MinedValue> {
        let Some(workspace) = self.workspace else { return vec![] };
        let case = self.case_of(workspace, recording);
        mined_values(&Evidence::new(workspace, &case, &recording.transcript))
    }
}

fn case_pass(scores: &[Score]) -> Option<bool> {
    let own = scores.iter().find(|score| score.scorer == ScorerId::CasePass)?;
    match own.reading {
        Reading::Tally { hit, of } if of > 0 => Some(hit == of),
        Reading::Tally { .. } | Reading::Level(_) | Reading::Unscorable { .. } => None,
    }
}
