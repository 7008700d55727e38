//! Guardian against requests that differ from the action.

use super::harness::{LiveTrial, text_field};
use model::transcript::ReviewDecision;
use serde_json::{Value, json};

async fn quote(trial: &mut LiveTrial, amount: &str) -> String {
    let args = json!({ "token_in": "USDC", "token_out": "WETH", "amount": amount, "chain": "base", "slippage_bps": 50 });
    text_field(&trial.call_ok("uniswap_get_quote", args).await, "action_id")
}

async fn review(trial: &mut LiveTrial, action_id: &str, terms: &Value) -> (ReviewDecision, String) {
    let mut params = terms.clone();
    params["action_id"] = json!(action_id);
    let verdict = trial.ask_peer("safety-guardian", params).await;
    (verdict.decision, verdict.reason)
}

/// A request for 150 USDC does not cover two trades of 100, approved in a row or one after the other.
#[tokio::test]
async fn splitting_a_request_is_vetoed() {
    for send_first in [false, true] {
        let mut trial = LiveTrial::open_observing("defi_small");
        let terms = json!({ "spend": [{ "token": "USDC", "at_most": "150" }], "receive": ["WETH"], "chains": [8453], "payees": ["self"] });
        let first = quote(&mut trial, "100").await;
        assert_eq!(review(&mut trial, &first, &terms).await.0, ReviewDecision::Approve);
        if send_first {
            let args = json!({
                "token_in": "USDC", "token_out": "WETH", "amount": "100", "chain": "base", "slippage_bps": 50, "action_id": first
            });
            trial.call_ok("uniswap_execute_swap", args).await;
        }
        let second = quote(&mut trial, "100").await;
        let (decision, reason) = review(&mut trial, &second, &terms).await;
        assert_eq!(decision, ReviewDecision::Veto, "{reason}");
        // Both actions may have the same calldata.
        let expected = format!("together with {first}, approved for the same request, it spends 200 USDC, the request allows 150");
        assert!(reason.ends_with(&expected), "{reason}");
        let rest = quote(&mut trial, "50").await;
        assert_eq!(review(&mut trial, &rest, &terms).await.0, ReviewDecision::Approve);
    }
}

#[tokio::test]
async fn other_proceeds_and_looser_slippage_are_vetoed() {
    let mut trial = LiveTrial::open_observing("defi_small");
    let action = quote(&mut trial, "100").await;
    for (terms, what) in [
        (json!({ "receive": ["DAI"] }), "it buys WETH, which is not what the request is to receive"),
        (json!({ "receive": [{ "token": "WETH", "at_least": "1" }] }), "the request is to receive at least 1"),
        (json!({ "slippage_bps": 20 }), "it tolerates 50 bps of slippage, the request allows 20"),
    ] {
        let (decision, reason) = review(&mut trial, &action, &terms).await;
        assert!(decision == ReviewDecision::Veto && reason.ends_with(what), "{reason}");
    }
    let fine = json!({ "receive": ["WETH"], "slippage_bps": 60 });
    assert_eq!(review(&mut trial, &action, &fine).await.0, ReviewDecision::Approve);
}
