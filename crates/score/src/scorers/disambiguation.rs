//! Is the right tool picked where a near-duplicate is also on offer? Spec 2.1, disambiguation accuracy.

use super::hit::Hit;
use super::{Evidence, Finding, Scorer, Specimen};
use crate::example::Example;
use model::suite::Case;
use model::{Happened, ScorerId, Workspace};
use serde_json::json;

pub(super) struct Disambiguation;

const TAG: &str = "disambiguation";

impl Scorer for Disambiguation {
    fn id(&self) -> ScorerId {
        ScorerId::Disambiguation
    }

    fn manual(&self) -> &'static str {
        "The hit of tool selection, over the cases tagged disambiguation: requests for which a near-duplicate of the right tool is also on \
         offer. Calling both to be safe misses, as in hit."
    }

    fn concerns(&self, workspace: &Workspace, case: &Case) -> bool {
        case.has_tag(TAG) && Hit.concerns(workspace, case)
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        Hit.score(evidence)
    }

    fn accepts(&self) -> Specimen {
        specimen("wallet_get_balance")
    }

    fn rejects(&self) -> Specimen {
        specimen("swap_get_quote")
    }
}

fn specimen(tool: &str) -> Specimen {
    let example = Example::minimal().edit("suites/tool_selection/trader.yaml", "tags: [happy_path]", "tags: [happy_path, disambiguation]");
    Specimen::within(&example, "how_much_usdc", vec![("assistant", Happened::Called { call: 1, tool: tool.into(), args: json!({}) })])
}
