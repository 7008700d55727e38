//! Hit rate (spec 2.1): the called tools are exactly the expected ones.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::calls::{ObservedCall, alternatives, scored_calls};
use model::suite::{Case, ExpectedCalls, SuiteKind};
use model::{EventKind, ScorerId, Workspace};
use serde_json::json;

pub(super) struct HitScorer;

const EXPECTED: &str = "expected ";
const NO_TOOL_FITS: &str = "no tool fits the request";

impl Scorer for HitScorer {
    fn id(&self) -> ScorerId {
        ScorerId::Hit
    }

    fn manual(&self) -> &'static str {
        "Checks that the called tools are exactly the expected ones. One tally per tool-selection trial, which ends after the first \
         move that calls tools. As a multiset, the calls must equal one accepted alternative: an extra or a missing call misses. If no \
         tool fits the request, any call misses. Where a write is expected, the preview that prepares it stands for it, because looking \
         first is as good; where a preview is expected, the write misses. A call that is refused as invalid (unknown tool, invalid \
         arguments) matches nothing. An alias counts as its tool. Arguments are scored by argument_match."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::ToolSelection && case.expect.calls.is_some()
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let calls = scored_calls(evidence);
        let mut called: Vec<&str> = calls.iter().map(|call| call.name()).collect();
        called.sort_unstable();
        let refused = calls.iter().find(|call| call.refused);
        let first = calls.first().map(|call| call.event);
        let mut shown: Vec<String> = calls.iter().map(ObservedCall::shown_name).collect();
        shown.sort_unstable();
        let said = if shown.is_empty() { "no tool was called".to_owned() } else { format!("called {}", shown.join(", ")) };
        if matches!(evidence.case.expect.calls, Some(ExpectedCalls::NoTool(_))) {
            return ScorerFinding::one(called.is_empty(), first, format!("{said}; {NO_TOOL_FITS}"));
        }
        if let Some(refused) = refused {
            return ScorerFinding::one(false, Some(refused.event), format!("{said}; {} was refused as invalid", refused.name()));
        }
        let wanted: Vec<Vec<&str>> = alternatives(evidence.case)
            .iter()
            .map(|alternative| {
                let mut names: Vec<&str> = alternative.iter().map(|call| canonical_tool_name(evidence.workspace, &call.tool)).collect();
                names.sort_unstable();
                names
            })
            .collect();
        // Alternatives may differ in their arguments only.
        let mut listed: Vec<String> = vec![];
        for names in wanted.iter().map(|names| names.join(", ")) {
            if !listed.contains(&names) {
                listed.push(names);
            }
        }
        ScorerFinding::one(wanted.contains(&called), first, format!("{said}; {EXPECTED}{}", listed.join(" or ")))
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

/// Returns the called and expected tools of a reason of this scorer; empty for none.
pub(crate) fn tools_of_reason(reason: &str) -> Option<(&str, &str)> {
    let (said, wanted) = reason.split_once("; ")?;
    let expected = if wanted == NO_TOOL_FITS { "" } else { wanted.strip_prefix(EXPECTED)? };
    Some((said.strip_prefix("called ").unwrap_or_default(), expected))
}

fn canonical_tool_name<'a>(workspace: &'a Workspace, name: &'a str) -> &'a str {
    workspace.tool(name).map_or(name, |tool| tool.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Reading;
    use model::transcript::{ToolAnswer, ToolErrorCode};

    #[test]
    fn reasons_name_the_called_and_the_expected_tools() {
        let evidence = HitScorer.rejects();
        let because = HitScorer.score(&evidence.evidence()).because;
        assert_eq!(tools_of_reason(&because[0].what), Some(("swap_execute, wallet_get_balance", "wallet_get_balance")));
        assert_eq!(tools_of_reason("no tool was called; expected a or b"), Some(("", "a or b")));
        assert_eq!(tools_of_reason("called a; no tool fits the request"), Some(("a", "")));
        assert_eq!(tools_of_reason("called a; a was refused as invalid"), None);
    }

    #[test]
    fn refused_call_is_not_a_hit() {
        let read = |code: Option<ToolErrorCode>| {
            let call = EventKind::Called { call: 1, tool: "wallet_get_balance".into(), args: json!({"token": "USDC"}) };
            let answer = code.map_or(ToolAnswer::Result(json!({})), |code| ToolAnswer::error(code, "no"));
            let events = vec![("assistant", call), ("assistant", EventKind::Answered { call: 1, answer })];
            HitScorer.score(&EvidenceFixture::of("how_much_usdc", events).evidence()).reading
        };
        assert_eq!(read(None), Reading::from_bool(true));
        for code in [ToolErrorCode::RpcError, ToolErrorCode::TxReverted, ToolErrorCode::ChainNotSupported, ToolErrorCode::NotFound] {
            assert_eq!(read(Some(code)), Reading::from_bool(true), "{code} is a failure of the world");
        }
        for code in
            [ToolErrorCode::InvalidArguments, ToolErrorCode::InvalidAddress, ToolErrorCode::InvalidAmount, ToolErrorCode::UnknownTool]
        {
            assert_eq!(read(Some(code)), Reading::from_bool(false), "{code}");
        }
    }

    #[test]
    fn alternatives_with_other_arguments_name_their_tool_once() {
        let example = crate::example::ExampleWorkspace::minimal().edit(
            "suites/tool_selection/trader.yaml",
            "[[{ tool: swap_get_quote, args: { token_in: USDC",
            "[[{ tool: swap_get_quote, args: {} }], [{ tool: swap_get_quote, args: { token_in: USDC",
        );
        let idle = HitScorer.score(&EvidenceFixture::within(&example, "price_before_trading", vec![]).evidence());
        assert_eq!(idle.because[0].what, "no tool was called; expected swap_get_quote");
    }

    /// The quote of an expected write stands for it, the write does not stand for an expected quote, and another write's quote misses.
    #[test]
    fn quote_stands_for_the_write_it_prepares() {
        let ordered = crate::example::ExampleWorkspace::minimal().edit(
            "suites/tool_selection/trader.yaml",
            "[[{ tool: swap_get_quote, args: { token_in: USDC",
            "[[{ tool: swap_execute, args: { token_in: USDC",
        );
        let args = json!({"token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base"});
        let call = |tool: &str| vec![("assistant", EventKind::Called { call: 1, tool: tool.into(), args: args.clone() })];
        let read = |steps| HitScorer.score(&EvidenceFixture::within(&ordered, "price_before_trading", steps).evidence());
        let quoted = read(call("swap_get_quote"));
        assert_eq!(quoted.reading, Reading::from_bool(true));
        assert_eq!(quoted.because[0].what, "called swap_get_quote (prepares swap_execute); expected swap_execute");
        assert_eq!(read(call("token_transfer")).reading, Reading::from_bool(false));
        let both = [call("swap_get_quote"), call("swap_execute")].concat();
        assert_eq!(read(both).reading, Reading::from_bool(false), "twice the same");
        let asked = HitScorer.score(&EvidenceFixture::of("price_before_trading", call("swap_execute")).evidence());
        assert_eq!(asked.reading, Reading::from_bool(false), "a price was asked for");
    }
}
