//! Scores one trial according to the run's claim.

use crate::scorers::{Evidence, Scorer, score_with};
use model::{Case, RunClaim, Score, Transcript, Workspace};

/// Returns the scores of a trial. If the run trusts claims, claimed events are scored like observed ones.
pub fn score_trial(
    workspace: &Workspace,
    case: &Case,
    scorers: &[&'static dyn Scorer],
    transcript: &Transcript,
    claim: &RunClaim,
) -> Vec<Score> {
    let trusted = (claim.trust_claims && transcript.has_claims()).then(|| transcript.with_claims_trusted());
    score_with(scorers, &Evidence::new(workspace, case, trusted.as_ref().unwrap_or(transcript)))
}
