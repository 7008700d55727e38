//! Tool-call F1 over multisets of tool names (spec 2.1).

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::selection::{F1Counts, NamedCall, expects_calls, f1};
use crate::sample_run::called_by_assistant;
use model::suite::Case;
use model::{ScorerId, Workspace};

pub(super) struct ToolCallF1Multiset;

impl Scorer for ToolCallF1Multiset {
    fn id(&self) -> ScorerId {
        ScorerId::ToolCallF1Multiset
    }

    fn manual(&self) -> &'static str {
        "F1 score like tool_call_f1, but every call counts. Calling a tool twice if one call is expected lowers precision; calling it once \
         if two calls are expected lowers recall."
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

fn count(made: &[NamedCall<'_>], expected: &[&str]) -> F1Counts {
    let mut open = expected.to_vec();
    let taken = made.iter().filter(|call| open.iter().position(|name| *name == call.name).map(|at| open.swap_remove(at)).is_some());
    F1Counts { common: taken.count(), called: made.len(), expected: expected.len() }
}
