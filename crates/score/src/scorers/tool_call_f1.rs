//! Tool-call F1 over sets of tool names (spec 2.1), as defined by promptfoo.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::selection::{F1Counts, NamedCall, expects_calls, f1};
use crate::sample_run::called_by_assistant;
use model::suite::Case;
use model::{ScorerId, Workspace};

pub(super) struct ToolCallF1;

impl Scorer for ToolCallF1 {
    fn id(&self) -> ScorerId {
        ScorerId::ToolCallF1
    }

    fn manual(&self) -> &'static str {
        "F1 score of the set of called tool names against the set of expected ones. It is the harmonic mean of precision (share of the \
         called tools that are expected) and recall (share of the expected tools that were called). Repetition and order do not matter. An \
         alias counts as its tool, and the best of several alternatives counts. Outside of tool selection, reads that the case does not \
         name are ignored, because extra reads are neither right nor wrong. Cases that expect no tool are scored by no_tool."
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
        EvidenceFixture::of("how_much_usdc", vec![called_by_assistant(1, "wallet_get_balance"), called_by_assistant(2, "swap_execute")])
    }
}

fn count(made: &[NamedCall<'_>], expected: &[&str]) -> F1Counts {
    let set = |names: &mut dyn Iterator<Item = &str>| -> std::collections::BTreeSet<String> { names.map(str::to_owned).collect() };
    let called = set(&mut made.iter().map(|call| call.name));
    let expected = set(&mut expected.iter().copied());
    F1Counts { common: called.intersection(&expected).count(), called: called.len(), expected: expected.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Reading;

    #[test]
    fn f1_ignores_repeats_and_penalizes_wrong_tools() {
        let reading = |tools: &[&str]| {
            let calls = (1..).zip(tools).map(|(n, tool)| called_by_assistant(n, tool)).collect();
            ToolCallF1.score(&EvidenceFixture::of("how_much_usdc", calls).evidence()).reading
        };
        assert_eq!(reading(&["wallet_get_balance", "balance_of"]), Reading::Level(1.0));
        assert_eq!(reading(&["wallet_get_balance", "swap_get_quote"]), Reading::Level(2.0 / 3.0));
        assert_eq!(reading(&["swap_get_quote"]), Reading::Level(0.0));
        assert_eq!(reading(&[]), Reading::Level(0.0));
    }
}
