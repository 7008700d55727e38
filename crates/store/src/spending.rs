//! Spending of a run by case, subject and role, and the number of answers without a model call.

use crate::{Store, StoreError};

/// Model calls of one role in the trials of one case and subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSpending {
    /// Absent if the trial has not ended.
    pub case: Option<String>,
    pub subject: Option<String>,
    pub role: String,
    pub calls: u64,
    /// Nano-dollars, including failed attempts. Calls under way count at their ceiling.
    pub nanos: u64,
}

impl Store {
    /// Returns the spending of a run in nano-dollars, including failed attempts. Calls under way count at their ceiling.
    pub fn total_spending(&self, run: i64) -> Result<u64, StoreError> {
        self.engine.total_spending(run)
    }

    /// Returns the spending of a run, sorted by case, subject and role.
    pub fn spending(&self, run: i64) -> Result<Vec<RoleSpending>, StoreError> {
        self.engine.spending(run)
    }

    /// Returns the costs in nano-dollars of the first `most` trials that cost something, in the order of their ids.
    pub fn trial_costs(&self, run: i64, most: usize) -> Result<Vec<u64>, StoreError> {
        self.engine.trial_costs(run, most)
    }

    /// Returns the number of tool answers and review decisions in trials that called a model. A world simulated
    /// by an LLM would have needed a call for each.
    pub fn count_world_answers(&self, run: i64) -> Result<u64, StoreError> {
        self.engine.count_world_answers(run)
    }
}
