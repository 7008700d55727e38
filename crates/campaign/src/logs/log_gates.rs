//! Gates of a workspace on the recordings of its cases.

use super::log_scorer::{CaseKnowledge, ScoredRecording};
use foreign::LogRecording;
use model::{CaseOutcome, GateVerdicts, RunClaim, Workspace};
use score::gates::{GateJudge, MeasuredTrial};
use score::outcome::case_outcome;
use std::collections::BTreeSet;

/// Most subjects that are judged. A log names them as it likes, and each has readings of its own.
const MAX_SUBJECTS: usize = 100;

/// Judges the gates that the recorded cases concern.
#[derive(Debug)]
pub struct LogGates<'w> {
    workspace: &'w Workspace,
    judge: GateJudge<'w>,
    /// Gates of a tier need evidence even if the logs have none of its cases.
    has_tier: bool,
    subjects: BTreeSet<String>,
    judged: LogVerdicts,
}

/// Verdicts on the recordings of known cases.
#[derive(Debug, Default)]
pub struct LogVerdicts {
    pub gates: GateVerdicts,
    /// Recordings that the gates read.
    pub recordings: u64,
    /// Recordings of subjects beyond the first hundred.
    pub left_out: u64,
    /// Failed recordings whose misses no gate reads.
    pub unread_failures: u64,
}

impl<'w> LogGates<'w> {
    pub fn new(workspace: &'w Workspace, claim: &RunClaim) -> Self {
        let judge = GateJudge::new(workspace, claim);
        Self { workspace, judge, has_tier: claim.tier.is_some(), subjects: BTreeSet::new(), judged: LogVerdicts::default() }
    }

    /// Adds a recording. Those of cases that the workspace does not have are no evidence for its gates; their misses are unread failures.
    pub fn add(&mut self, recording: &LogRecording, scored: &ScoredRecording) {
        let transcript = &recording.transcript;
        let Some(case) = self.workspace.case(&transcript.case).filter(|_| scored.case == CaseKnowledge::Known) else {
            // Scorers that need no expectation read it, and no gate reads their misses.
            self.judged.unread_failures += u64::from(scored.scores.iter().any(|score| score.reading.is_violation()));
            return;
        };
        if !self.subjects.contains(&transcript.subject) {
            if self.subjects.len() >= MAX_SUBJECTS {
                self.judged.left_out += 1;
                return;
            }
            self.subjects.insert(transcript.subject.clone());
        }
        let outcome = case_outcome(&transcript.ending, &scored.scores);
        let (aborted, content) = (outcome.is_aborted(), transcript.to_serialized().content_hash);
        let scores = if aborted { &[] } else { scored.scores.as_slice() };
        let measured =
            MeasuredTrial { trial: &transcript.trial, subject: &transcript.subject, case, scores, aborted, content: Some(&content) };
        let is_read = self.judge.add(&measured);
        self.judged.recordings += 1;
        self.judged.unread_failures += u64::from(outcome == CaseOutcome::Failed && !is_read);
    }

    /// Returns the verdicts; none without a tier if no recording is of a case of the workspace and none failed.
    pub fn finish(self) -> Option<LogVerdicts> {
        match (self.judged.recordings, self.judged.unread_failures) {
            (0, 0) if !self.has_tier => None,
            (0, _) if !self.has_tier => Some(self.judged),
            (_, _) => Some(LogVerdicts { gates: self.judge.finish(), ..self.judged }),
        }
    }
}
