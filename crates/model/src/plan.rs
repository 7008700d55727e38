//! Plan of a run: every case × subject × seed, in order, fixed before the first model call.

use crate::hash::ContentHash;
use crate::suite::Case;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Hash of the workspace the trials were planned from.
    pub workspace: ContentHash,
    /// Version of that workspace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_version: Option<u64>,
    pub trials: Vec<Trial>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    pub id: ContentHash,
    pub case: String,
    pub subject: String,
    pub seed: u64,
}

impl Trial {
    /// Returns a trial. Its id covers the content of the case and the configuration of the subject.
    pub fn new(case: &Case, subject: &str, configuration: &ContentHash, seed: u64) -> Self {
        Self::from_hashes((&case.id, &case.hash), (subject, configuration), seed)
    }

    fn from_hashes((case, hash): (&str, &ContentHash), (subject, configuration): (&str, &ContentHash), seed: u64) -> Self {
        // Canonical JSON, formatted by hand for speed: a plan may hold a hundred thousand trials.
        let subject_json = Value::from(subject);
        let id = format!(r#"{{"case":"{hash}","configuration":"{configuration}","seed":{seed},"subject":{subject_json}}}"#);
        Self { id: ContentHash::of_text(&id), case: case.to_owned(), subject: subject.to_owned(), seed }
    }
}

/// Compact plan from which all trials can be generated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanOutline {
    pub cases: Vec<PlannedCase>,
    pub subjects: Vec<PlannedSubject>,
    /// Trials per case.
    pub trials: u64,
    pub seed: u64,
    /// Version of the workspace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_version: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCase {
    pub case: String,
    pub hash: ContentHash,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedSubject {
    pub subject: String,
    pub configuration: ContentHash,
}

impl PlanOutline {
    /// Returns all trials, grouped by case, then by subject in the requested order, with ascending seeds.
    pub fn trials(&self) -> Vec<Trial> {
        (0..self.len()).map(|n| self.trial(n)).collect()
    }

    pub fn len(&self) -> u64 {
        (self.cases.len() * self.subjects.len()) as u64 * self.trials
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the trial at a position, which must be below [`PlanOutline::len`].
    pub fn trial(&self, n: u64) -> Trial {
        let (case, subject) = self.case_and_subject(n);
        let (case, subject) = (&self.cases[case], &self.subjects[subject]);
        let seed = self.seed.wrapping_add(n % self.trials);
        Trial::from_hashes((&case.case, &case.hash), (&subject.subject, &subject.configuration), seed)
    }

    /// Returns the indices of the case and the subject of a trial.
    pub fn case_and_subject(&self, n: u64) -> (usize, usize) {
        let pair = usize::try_from(n / self.trials).unwrap_or(usize::MAX);
        (pair / self.subjects.len(), pair % self.subjects.len())
    }
}
