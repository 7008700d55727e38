//! Tool-call F1 over multisets of tool names (spec 2.1).

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::selection::{F1Counts, NamedCall, counted_without_repeats, expects_calls, f1};
use model::suite::Case;
use model::{EventKind, ScorerId, Workspace};
use serde_json::json;

pub(super) struct ToolCallF1Multiset;

impl Scorer for ToolCallF1Multiset {
    fn id(&self) -> ScorerId {
        ScorerId::ToolCallF1Multiset
    }

    fn manual(&self) -> &'static str {
        "F1 score like tool_call_f1, but every call counts. Calling a tool twice if one call is expected lowers precision; calling it once \
         if two calls are expected lowers recall. Outside of tool selection, reading more often than expected does not count."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        expects_calls(case)
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        f1(evidence, count)
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of("how_much_usdc", vec![called(1, "balance_of")])
    }

    fn rejects(&self) -> EvidenceFixture {
        EvidenceFixture::of("how_much_usdc", vec![called(1, "wallet_get_balance"), called(2, "balance_of")])
    }
}

fn called(call: u32, tool: &str) -> (&'static str, EventKind) {
    ("assistant", EventKind::Called { call, tool: tool.into(), args: json!({}) })
}

fn count(made: &[NamedCall<'_>], expected: &[&str]) -> F1Counts {
    let mut open = expected.to_vec();
    let taken = made.iter().filter(|call| open.iter().position(|name| *name == call.name).map(|at| open.swap_remove(at)).is_some());
    F1Counts { common: taken.count(), called: counted_without_repeats(made, expected), expected: expected.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_reads_do_not_lower_precision() {
        let named = |name, may_repeat| NamedCall { name, event: 1, may_repeat };
        let level = |made: &[NamedCall<'_>]| count(made, &["quote", "swap"]).f1();
        let (quote, swap) = (named("quote", true), named("swap", false));
        assert!((level(&[quote, quote, quote, swap]) - 1.0).abs() < 1e-9);
        assert!(level(&[quote, swap, swap]) < 1.0, "a second write");
        assert!(level(&[quote, swap, named("price", true)]) < 1.0, "a tool that is not expected");
        assert!(level(&[quote, quote]) < 1.0, "the write is missing");
        assert!(level(&[named("quote", false), named("quote", false), swap]) < 1.0, "tool selection counts every call");
    }
}
