//! When a trial is cut off, and what a subject has used of that.

use model::SubjectLimits;
use model::transcript::LimitKind;

#[derive(Debug, Clone, Copy)]
pub struct TrialLimits {
    pub moves: u64,
    pub calls: u64,
    pub depth: usize,
    pub output_tokens: u64,
    pub latency_ms: u64,
}

/// What a subject has used since the trial began. Recorded with its replies, never read from a clock, so a replay uses the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SubjectUsage {
    pub output_tokens: u64,
    /// How long it took to answer, all moves together.
    pub latency_ms: u64,
}

impl From<SubjectLimits> for TrialLimits {
    fn from(limits: SubjectLimits) -> Self {
        Self {
            // A turn of the conversation may take several moves.
            moves: limits.turns.saturating_mul(8),
            calls: limits.calls,
            // Depth only stops runaway recursion, the rule of three hops is scored.
            depth: 8,
            output_tokens: limits.output_tokens,
            latency_ms: limits.seconds.saturating_mul(1000),
        }
    }
}

impl TrialLimits {
    /// The limit that was passed, if one was. Using one up exactly is within it.
    pub fn exceeded(&self, used: SubjectUsage) -> Option<LimitKind> {
        if used.output_tokens > self.output_tokens {
            Some(LimitKind::Tokens)
        } else if used.latency_ms > self.latency_ms {
            Some(LimitKind::Time)
        } else {
            None
        }
    }
}
