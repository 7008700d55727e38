//! Limits of a trial and the subject's usage against them.

use model::transcript::LimitKind;
use model::{Money, SubjectLimits};

#[derive(Debug, Clone, Copy)]
pub struct TrialLimits {
    pub moves: u64,
    pub calls: u64,
    pub depth: usize,
    pub output_tokens: u64,
    pub latency_ms: u64,
}

/// Usage of a subject since the start of the trial. Taken from recorded replies, not from a clock, so that a replay gives the same values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SubjectUsage {
    pub output_tokens: u64,
    /// Total response time over all moves.
    pub latency_ms: u64,
}

/// Totals of the replies that a subject used, as stored with them. Absent where a reply lacks the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyTotals {
    pub latency_ms: Option<u64>,
    pub cost: Option<Money>,
}

impl ReplyTotals {
    /// Adds the numbers of one more reply.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self {
            latency_ms: self.latency_ms.zip(more.latency_ms).map(|(before, more)| before.saturating_add(more)),
            cost: self.cost.zip(more.cost).map(|(before, more)| before.saturating_add(more)),
        }
    }
}

impl From<SubjectLimits> for TrialLimits {
    fn from(limits: SubjectLimits) -> Self {
        Self {
            // A turn of the conversation may take several moves.
            moves: limits.turns.saturating_mul(8),
            calls: limits.calls,
            // Only stops runaway recursion; the three-hop rule is scored.
            depth: 8,
            output_tokens: limits.output_tokens,
            latency_ms: limits.seconds.saturating_mul(1000),
        }
    }
}

impl TrialLimits {
    /// Returns the limit that is exceeded, if any. Usage equal to a limit is allowed.
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
