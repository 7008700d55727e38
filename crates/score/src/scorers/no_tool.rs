//! Does the model keep its hands still where no tool fits? Spec 2.1, no tool expected.

use super::{Evidence, Finding, Scorer, Specimen};
use crate::example::Example;
use crate::facts::calls::made;
use model::suite::{Case, ExpectedCalls};
use model::{Because, Happened, Reading, ScorerId, Workspace};
use serde_json::json;

pub(super) struct NoTool;

impl Scorer for NoTool {
    fn id(&self) -> ScorerId {
        ScorerId::NoTool
    }

    fn manual(&self) -> &'static str {
        "A case that no tool fits is one tally: good when nothing was called and no skill activated, missed at the first call. Saying why, \
         asking back and refusing are all fine."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        matches!(case.expect.calls, Some(ExpectedCalls::NoTool(_)))
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        let calls = made(evidence).into_iter().map(|call| Because { event: Some(call.event), what: format!("called {}", call.name()) });
        let skills = evidence.transcript.events.iter().filter_map(|event| {
            let Happened::Activated { skill, .. } = &event.happened else { return None };
            Some(Because { event: Some(event.n), what: format!("activated {skill}") })
        });
        let because: Vec<Because> = calls.chain(skills).collect();
        if because.is_empty() {
            return Finding::one(true, None, "nothing was called");
        }
        Finding { reading: Reading::one(false), because }
    }

    fn accepts(&self) -> Specimen {
        specimen(Happened::Said { text: "I cannot see other people's balances.".into() })
    }

    fn rejects(&self) -> Specimen {
        specimen(Happened::Called { call: 1, tool: "wallet_get_balance".into(), args: json!({"token": "USDC"}) })
    }
}

fn specimen(happened: Happened) -> Specimen {
    let from = "calls: { any_of: [[{ tool: wallet_get_balance, args: { token: USDC, chain: base } }]] }";
    let example = Example::minimal().edit("suites/tool_selection/trader.yaml", from, "calls: { none: true }");
    Specimen::within(&example, "how_much_usdc", vec![("assistant", happened)])
}
