//! Everything a run found out, in one deterministic document.

use crate::hash::Hash;
use crate::plan::Plan;
use crate::reading::{Judgement, Score};
use crate::transcript::Transcript;
use serde::{Deserialize, Serialize};

/// Readers refuse other formats; converters for older ones live in one place.
pub const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    pub format: u32,
    #[serde(default)]
    pub claim: Claim,
    pub plan: Plan,
    pub transcripts: Vec<Transcript>,
    pub scores: Vec<TrialScores>,
    pub judgements: Vec<Judgement>,
    /// Gates that this selection does not concern, by id.
    pub out_of_scope: Vec<String>,
}

/// What a run claims to have measured, and how sure its gates must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
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
    pub trial: Hash,
    pub scores: Vec<Score>,
}

impl RunRecord {
    pub fn hash(&self) -> Hash {
        // A record is plain data; if it were not JSON, an id of something else would be a lie.
        Hash::of(&serde_json::to_value(self).unwrap_or_else(|error| panic!("a record is always JSON: {error}")))
    }

    pub fn finished(&self) -> usize {
        self.transcripts.iter().filter(|transcript| transcript.ending.is_scorable()).count()
    }

    /// Trials that ended but that no scorer read anything off: whatever they showed, nobody looked.
    pub fn unread(&self) -> usize {
        let read = |scores: &TrialScores| scores.scores.iter().any(|score| score.reading.is_exercised());
        self.transcripts.iter().zip(&self.scores).filter(|(transcript, scores)| transcript.ending.is_scorable() && !read(scores)).count()
    }

    pub fn aborted(&self) -> usize {
        self.plan.trials.len() - self.finished()
    }
}
