//! Hit rate (spec 2.1): the called tools are exactly the expected ones.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::calls::{alternatives, scored_calls};
use model::suite::{Case, ExpectedCalls, SuiteKind};
use model::{EventKind, ScorerId, Workspace};
use serde_json::json;

pub(super) struct HitScorer;

impl Scorer for HitScorer {
    fn id(&self) -> ScorerId {
        ScorerId::Hit
    }

    fn manual(&self) -> &'static str {
        "Checks that the called tools are exactly the expected ones. One tally per tool-selection trial, which ends after the first move \
         that calls tools. As a multiset, the calls must equal one accepted alternative: an extra or a missing call misses. If no tool \
         fits the request, any call misses. An alias counts as its tool. Arguments are scored by argument_match."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::ToolSelection && case.expect.calls.is_some()
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let calls = scored_calls(evidence);
        let mut called: Vec<&str> = calls.iter().map(|call| call.name()).collect();
        called.sort_unstable();
        let first = calls.first().map(|call| call.event);
        let said = if called.is_empty() { "no tool was called".to_owned() } else { format!("called {}", called.join(", ")) };
        if matches!(evidence.case.expect.calls, Some(ExpectedCalls::NoTool(_))) {
            return ScorerFinding::one(called.is_empty(), first, format!("{said}; no tool fits the request"));
        }
        let wanted: Vec<Vec<&str>> = alternatives(evidence.case)
            .iter()
            .map(|alternative| {
                let mut names: Vec<&str> = alternative.iter().map(|call| canonical_tool_name(evidence.workspace, &call.tool)).collect();
                names.sort_unstable();
                names
            })
            .collect();
        let listed: Vec<String> = wanted.iter().map(|names| names.join(", ")).collect();
        ScorerFinding::one(wanted.contains(&called), first, format!("{said}; expected {}", listed.join(" or ")))
    }

    fn accepts(&self) -> EvidenceFixture {
        let call = EventKind::Called { call: 1, tool: "balance_of".into(), args: json!({"token": "USDC"}) };
        EvidenceFixture::of("how_much_usdc", vec![("assistant", call)])
    }

    fn rejects(&self) -> EvidenceFixture {
        let call = |n, tool: &str| ("assistant", EventKind::Called { call: n, tool: tool.into(), args: json!({}) });
        EvidenceFixture::of("how_much_usdc", vec![call(1, "wallet_get_balance"), call(2, "swap_execute")])
    }
}

fn canonical_tool_name<'a>(workspace: &'a Workspace, name: &'a str) -> &'a str {
    workspace.tool(name).map_or(name, |tool| tool.name.as_str())
}
