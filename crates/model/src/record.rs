//! Record of a run: plan, transcripts, scores and gate results in one deterministic document.

use crate::hash::ContentHash;
use crate::plan::{Plan, Trial};
use crate::reading::{GateResult, Score};
use crate::transcript::Transcript;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

/// Format of [`RunRecord`]. Readers refuse other formats.
pub const RECORD_FORMAT: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    pub format: u32,
    #[serde(default)]
    pub claim: RunClaim,
    pub plan: Plan,
    pub transcripts: Vec<Transcript>,
    pub scores: Vec<TrialScores>,
    pub judgements: Vec<GateResult>,
    /// Ids of gates without any of the selected cases.
    pub out_of_scope: Vec<String>,
}

/// Scope of a run, and the confidence its gates require.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunClaim {
    /// Tier whose gates must reach `min_cases`; absent if the cases were selected by hand.
    pub tier: Option<u64>,
    /// One-sided confidence at which bounds must hold; absent to compare the observed rate only.
    pub confidence: Option<f64>,
    /// Failure rate that zero-tolerance gates must rule out.
    pub rule_out: Option<f64>,
    /// Counts claims of external agents as observed events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trust_claims: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialScores {
    pub trial: ContentHash,
    pub scores: Vec<Score>,
}

impl RunRecord {
    pub fn hash(&self) -> ContentHash {
        let mut hash = RecordHasher::new(&self.claim, &self.plan.workspace);
        let mut ended = self.transcripts.iter().zip(&self.scores).peekable();
        for trial in &self.plan.trials {
            match ended.next_if(|(transcript, _)| transcript.trial == trial.id) {
                Some((transcript, scores)) => {
                    hash.add_trial(trial, &transcript.to_serialized().content_hash, &scores_to_json(&scores.scores))
                }
                None => hash.add_unrun_trial(trial),
            }
        }
        hash.finish(&self.judgements, &self.out_of_scope)
    }

    /// Returns the number of scorable trials.
    pub fn finished_count(&self) -> usize {
        self.transcripts.iter().filter(|transcript| transcript.ending.is_scorable()).count()
    }

    /// Returns the number of scorable trials on which no scorer was exercised.
    pub fn unscored_count(&self) -> usize {
        let scored = |scores: &TrialScores| scores.scores.iter().any(|score| score.reading.is_exercised());
        self.transcripts.iter().zip(&self.scores).filter(|(transcript, scores)| transcript.ending.is_scorable() && !scored(scores)).count()
    }

    /// Returns the number of planned trials that are not scorable.
    pub fn aborted_count(&self) -> usize {
        self.plan.trials.len() - self.finished_count()
    }
}

/// Computes the hash of a record from its trials, added in plan order, without keeping them in memory.
#[derive(Debug, Clone)]
pub struct RecordHasher(Sha256);

impl RecordHasher {
    pub fn new(claim: &RunClaim, workspace: &ContentHash) -> Self {
        let mut hash = Self(Sha256::new());
        hash.add_line(&json!({ "format": RECORD_FORMAT, "claim": claim, "workspace": workspace }).to_string());
        hash
    }

    /// Adds a trial that ended, with the hash of its content and its scores as JSON.
    pub fn add_trial(&mut self, trial: &Trial, content: &ContentHash, scores: &str) {
        self.add_trial_digest(trial, content, &ContentHash::of_text(scores));
    }

    /// Like [`RecordHasher::add_trial`], with scores that are already hashed.
    pub fn add_trial_digest(&mut self, trial: &Trial, content: &ContentHash, scores: &ContentHash) {
        for part in [trial.id.as_str(), " ", content.as_str(), " ", scores.as_str(), "\n"] {
            self.0.update(part.as_bytes());
        }
    }

    /// Adds a planned trial that did not end.
    pub fn add_unrun_trial(&mut self, trial: &Trial) {
        self.add_line(trial.id.as_str());
    }

    pub fn finish(mut self, judgements: &[GateResult], out_of_scope: &[String]) -> ContentHash {
        self.add_line(&json!({ "judgements": judgements, "out_of_scope": out_of_scope }).to_string());
        ContentHash::finish(self.0)
    }

    fn add_line(&mut self, text: &str) {
        self.0.update(text.as_bytes());
        self.0.update(b"\n");
    }
}

/// Returns scores as they are stored and hashed.
pub fn scores_to_json(scores: &[Score]) -> String {
    serde_json::to_string(scores).unwrap_or_else(|error| panic!("scores cannot be serialized: {error}"))
}
