//! Side of a comparison from results of another framework: tests that passed, failed, or have no result.

use super::side_facts::{ComparedSide, SideFacts, SideSource};
use model::{Money, Workspace};
use score::pairing::{RunNoise, RunSide};
use std::time::Duration;

/// Result of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainResult {
    pub case: String,
    pub subject: String,
    /// Absent if the test was in error.
    pub passed: Option<bool>,
    pub latency_ms: u64,
}

/// Returns the results of one subject. Whether they differ by chance is not known, so they may.
pub fn plain_side<'w>(workspace: &'w Workspace, file: &str, subject: &str, results: &[PlainResult]) -> ComparedSide<'w> {
    let mut readings = RunSide::new(workspace);
    let own: Vec<&PlainResult> = results.iter().filter(|result| result.subject == subject).collect();
    own.iter().for_each(|result| readings.add_plain(&result.case, result.passed));
    let facts = SideFacts {
        source: SideSource::File(file.to_owned()),
        subject: subject.to_owned(),
        noise: RunNoise::Sampled,
        trials: own.len() as u64,
        gone: 0,
        unplayed: 0,
        spent: Money::ZERO,
        wall: Duration::from_millis(own.iter().map(|result| result.latency_ms).sum()),
    };
    ComparedSide { facts, readings }
}
