//! Disambiguation accuracy (spec 2.1): the right tool is chosen over a near-duplicate.

use super::hit::HitScorer;
use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::example::ExampleWorkspace;
use model::suite::Case;
use model::{EventKind, ScorerId, Workspace};
use serde_json::json;

pub(super) struct DisambiguationScorer;

const TAG: &str = "disambiguation";

impl Scorer for DisambiguationScorer {
    fn id(&self) -> ScorerId {
        ScorerId::Disambiguation
    }

    fn manual(&self) -> &'static str {
        "Hit rate over the cases tagged disambiguation, in which a near-duplicate of the right tool is also available. Calling both to be \
         safe misses, as in hit."
    }

    fn concerns(&self, workspace: &Workspace, case: &Case) -> bool {
        case.has_tag(TAG) && HitScorer.concerns(workspace, case)
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        HitScorer.score(evidence)
    }

    fn accepts(&self) -> EvidenceFixture {
        fixture("wallet_get_balance")
    }

    fn rejects(&self) -> EvidenceFixture {
        fixture("swap_get_quote")
    }
}

fn fixture(tool: &str) -> EvidenceFixture {
    let example =
        ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", "tags: [happy_path]", "tags: [happy_path, disambiguation]");
    EvidenceFixture::within(
        &example,
        "how_much_usdc",
        vec![("assistant", EventKind::Called { call: 1, tool: tool.into(), args: json!({}) })],
    )
}
