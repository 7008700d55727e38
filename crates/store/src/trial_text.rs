//! Texts of single trials: snippets of a search, and the model calls behind a trial.

use crate::{Store, StoreError};

/// Model call of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialCall {
    pub role: String,
    pub n: u32,
    pub state: String,
    /// Nano-dollars, failed attempts included.
    pub cost: u64,
    pub waited_us: Option<u64>,
    /// Reason of a failure.
    pub why: Option<String>,
    /// JSON.
    pub reply: Option<String>,
}

impl Store {
    /// Returns the events of a trial as JSON; absent if they are longer than `most` bytes.
    pub fn events_json(&self, run: i64, n: u64, most: usize) -> Result<Option<String>, StoreError> {
        Ok(self.engine.trial_text(run, n)?.map(|text| text.events).filter(|events| events.len() <= most))
    }

    /// Returns up to `most` model calls of a trial.
    pub fn calls_of_trial(&self, run: i64, trial: &str, most: usize) -> Result<Vec<TrialCall>, StoreError> {
        let calls = self.engine.calls_of_trial(run, trial, most)?;
        let count = |n: i64| u64::try_from(n).unwrap_or_default();
        Ok(calls
            .into_iter()
            .map(|call| TrialCall {
                role: call.role,
                n: u32::try_from(call.n).unwrap_or(u32::MAX),
                state: call.state,
                cost: count(call.cost.saturating_add(call.lost)),
                waited_us: call.waited_us.map(count),
                why: call.why,
                reply: call.reply,
            })
            .collect())
    }
}
