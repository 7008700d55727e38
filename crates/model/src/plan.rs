//! What will be run: every case × subject × seed, in order, before the first token is spent.

use crate::hash::Hash;
use crate::suite::Case;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Of the workspace the trials were planned from.
    pub workspace: Hash,
    pub trials: Vec<Trial>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    pub id: Hash,
    pub case: String,
    pub subject: String,
    pub seed: u64,
}

impl Trial {
    /// The id covers the content of the case and the configuration of the subject, so a changed one is another trial.
    pub fn new(case: &Case, subject: &str, configuration: &Hash, seed: u64) -> Self {
        let id =
            Hash::of(&json!({ "case": case.hash.as_str(), "subject": subject, "configuration": configuration.as_str(), "seed": seed }));
        Self { id, case: case.id.value.clone(), subject: subject.to_owned(), seed }
    }
}
