//! Tool-call F1 over sequences of tool names (spec 2.1).

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::selection::{F1Counts, NamedCall, expects_calls, f1};
use crate::sample_run::called_by_assistant;
use model::suite::Case;
use model::{ScorerId, Workspace};

pub(super) struct ToolCallF1Ordered;

impl Scorer for ToolCallF1Ordered {
    fn id(&self) -> ScorerId {
        ScorerId::ToolCallF1Ordered
    }

    fn manual(&self) -> &'static str {
        "F1 score like tool_call_f1_multiset, but the order counts. The matches are the longest common subsequence of the calls made and \
         the calls expected, so two expected tools in the wrong order count as one match. The trajectory score uses this form."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        expects_calls(case)
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        f1(evidence, count)
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of("how_much_usdc", vec![called_by_assistant(1, "balance_of")])
    }

    fn rejects(&self) -> EvidenceFixture {
        EvidenceFixture::of("how_much_usdc", vec![called_by_assistant(1, "wallet_get_balance"), called_by_assistant(2, "balance_of")])
    }
}

pub(super) fn count(made: &[NamedCall<'_>], expected: &[&str]) -> F1Counts {
    F1Counts { common: longest_common(made, expected), called: made.len(), expected: expected.len() }
}

/// Returns the length of the longest common subsequence, computed row by row.
fn longest_common(made: &[NamedCall<'_>], expected: &[&str]) -> usize {
    let mut row = vec![0; expected.len() + 1];
    for call in made {
        let mut diagonal = 0;
        for (n, name) in expected.iter().enumerate() {
            let above = row[n + 1];
            row[n + 1] = if call.name == *name { diagonal + 1 } else { above.max(row[n]) };
            diagonal = above;
        }
    }
    row[expected.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_common_respects_order() {
        let common = |made: &str, expected: &str| {
            let made: Vec<NamedCall<'_>> = made.split(" ").map(|name| NamedCall { name, event: 1 }).collect();
            longest_common(&made, &expected.split(" ").collect::<Vec<_>>())
        };
        assert_eq!(common("a b c", "a b c"), 3);
        assert_eq!(common("b a", "a b"), 1);
        assert_eq!(common("x a y b", "a b"), 2);
        assert_eq!(common("a a", "a"), 1);
        assert_eq!(common("x", "a"), 0);
    }
}
