//! Everything a run found out, in one deterministic document.

use crate::hash::ContentHash;
use crate::plan::{Plan, Trial};
use crate::reading::{GateResult, Score};
use crate::transcript::Transcript;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

/// Readers refuse other formats; converters for older ones live in one place.
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
    /// Gates that this selection does not concern, by id.
    pub out_of_scope: Vec<String>,
}

/// What a run claims to have measured, and how sure its gates must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunClaim {
    /// The tier whose gates are held to their minimum of cases; absent where a person chose the cases.
    pub tier: Option<u64>,
    /// The bound must hold at this confidence, one-sided, not only for the rate seen.
    pub confidence: Option<f64>,
    /// A gate that allows no miss must rule out failing this often.
    pub rule_out: Option<f64>,
    /// What finished agents merely claim counts as if it had been seen.
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

    pub fn finished_count(&self) -> usize {
        self.transcripts.iter().filter(|transcript| transcript.ending.is_scorable()).count()
    }

    /// Trials that ended but that no scorer read anything off: whatever they showed, nobody looked.
    pub fn unscored_count(&self) -> usize {
        let read = |scores: &TrialScores| scores.scores.iter().any(|score| score.reading.is_exercised());
        self.transcripts.iter().zip(&self.scores).filter(|(transcript, scores)| transcript.ending.is_scorable() && !read(scores)).count()
    }

    pub fn aborted_count(&self) -> usize {
        self.plan.trials.len() - self.finished_count()
    }
}

/// The hash of a record whose trials come one after the other, in the order of the plan, and need not be held.
#[derive(Debug, Clone)]
pub struct RecordHasher(Sha256);

impl RecordHasher {
    pub fn new(claim: &RunClaim, workspace: &ContentHash) -> Self {
        let mut hash = Self(Sha256::new());
        hash.add_line(&json!({ "format": RECORD_FORMAT, "claim": claim, "workspace": workspace }).to_string());
        hash
    }

    /// A trial that ended: what happened in it and what was read off it.
    pub fn add_trial(&mut self, trial: &Trial, content: &ContentHash, scores: &str) {
        self.add_trial_digest(trial, content, &ContentHash::of_text(scores));
    }

    /// The same, where the scores were hashed before.
    pub fn add_trial_digest(&mut self, trial: &Trial, content: &ContentHash, scores: &ContentHash) {
        for part in [trial.id.as_str(), " ", content.as_str(), " ", scores.as_str(), "\n"] {
            self.0.update(part.as_bytes());
        }
    }

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

/// Scores as they are kept and hashed.
pub fn scores_to_json(scores: &[Score]) -> String {
    serde_json::to_string(scores).unwrap_or_else(|error| panic!("scores are always JSON: {error}"))
}
