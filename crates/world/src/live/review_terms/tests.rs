use super::*;
use crate::live::actions::ActionGrant;
use crate::live::hooks::specimen::{SampleWrite, USDC, WORKSPACE, book};
use serde_json::json;

/// Returns the term that a sample write goes beyond.
fn exceeded(sample: &SampleWrite, terms: &Value) -> Option<String> {
    let frozen = sample.actions.get("action-1").expect("a frozen action");
    let (actions, params) = (&sample.actions, terms.as_object().expect("terms"));
    TermsReview { workspace: &WORKSPACE, book: book(), actions, now_ms: sample.now_ms, action_id: "action-1", frozen, params }
        .exceeded_term()
}

#[test]
fn receive_is_compared_with_what_a_trade_buys() {
    let swap = SampleWrite::swap();
    let weth = crate::live::hooks::specimen::WETH.to_string().to_lowercase();
    for fine in [
        json!({ "receive": ["WETH"] }),
        json!({ "receive": "weth" }),
        json!({ "receive": ["USDC", weth] }),
        json!({ "receive": [{ "token": "WETH", "at_least": "0.07761" }] }),
        json!({ "receive": null }),
        json!({}),
    ] {
        assert_eq!(exceeded(&swap, &fine), None, "{fine}");
    }
    let other = "it buys WETH, which is not what the request is to receive";
    for (terms, why) in [
        (json!({ "receive": ["USDC"] }), other),
        (json!({ "receive": [] }), other),
        (
            json!({ "receive": [{ "token": "WETH", "at_least": "0.077611" }] }),
            "it may buy as little as 0.07761 WETH, the request is to receive at least 0.077611",
        ),
        (json!({ "receive": [{ "token": "WETH", "at_least": "much" }] }), "\"much\" WETH to receive is not an amount"),
    ] {
        assert_eq!(exceeded(&swap, &terms).as_deref(), Some(why), "{terms}");
    }
    assert_eq!(exceeded(&SampleWrite::transfer(), &json!({ "receive": ["WETH"] })), None, "a payment states no inflow");
}

#[test]
fn slippage_of_the_request_is_a_bound() {
    let loosened = |stated: Option<u64>| {
        let mut swap = SampleWrite::swap();
        swap.plan.outputs.clear();
        if let Some(bps) = stated {
            swap.plan.outputs.insert("slippage_bps".into(), json!(bps));
        }
        swap.freeze();
        swap
    };
    for stated in [Some(50), None] {
        let swap = loosened(stated);
        assert_eq!(exceeded(&swap, &json!({ "slippage_bps": 50 })), None);
        assert_eq!(exceeded(&swap, &json!({ "slippage_bps": "80" })), None, "a tighter action is fine");
        let why = exceeded(&swap, &json!({ "slippage_bps": 49 })).expect("an objection");
        assert_eq!(why, "it tolerates 50 bps of slippage, the request allows 49");
        assert_eq!(exceeded(&swap, &json!({ "slippage_bps": "little" })).unwrap(), "slippage_bps of the request is not a number");
    }
}

#[test]
fn approved_actions_of_one_request_are_added_up() {
    let terms = json!({ "spend": [{ "token": "USDC", "at_most": "400" }], "payees": ["self"], "chains": [8453] });
    let swap = SampleWrite::swap;
    assert_eq!(exceeded(&swap(), &terms), None);
    let after = |terms: &Value, change: fn(&mut ActionGrant)| {
        let mut sample = swap();
        let spends = outflows(book(), &sample.plan).into_iter().map(|(symbol, _, amount)| (symbol, amount)).collect();
        let request = request_key(&WORKSPACE, terms.as_object().unwrap());
        let expires_at_ms = sample.now_ms;
        let mut grant = ActionGrant {
            action_id: "action-0".into(),
            calldata_hash: "0x0".into(),
            request,
            spends,
            worth_usd8: U256::ZERO,
            signs: false,
            expires_at_ms,
            sent: false,
        };
        change(&mut grant);
        sample.actions.add_grant(grant);
        sample
    };
    let both = "together with action-0, approved for the same request, it spends 500 USDC, the request allows 400";
    assert_eq!(exceeded(&after(&terms, |_| ()), &terms).as_deref(), Some(both), "approved and not sent yet");
    let sent = after(&terms, |grant| (grant.sent, grant.expires_at_ms) = (true, 0));
    assert_eq!(exceeded(&sent, &terms).as_deref(), Some(both));
    let respelled = json!({
        "chains": ["base"], "payees": ["Self"], "note": "again",
        "spend": [{ "amount": "400.00", "token": USDC.to_string().to_lowercase() }]
    });
    assert_eq!(exceeded(&sent, &respelled).as_deref(), Some(both), "the same terms in other words");
    let lapsed = after(&terms, |grant| grant.expires_at_ms = 0);
    assert_eq!(exceeded(&lapsed, &terms), None, "an approval that expired unused");
    let again = after(&terms, |grant| grant.action_id = "action-1".into());
    assert_eq!(exceeded(&again, &terms), None, "the same action is reviewed again");
    let wider = json!({ "spend": [{ "token": "USDC", "at_most": "500" }], "payees": ["self"], "chains": [8453] });
    assert_eq!(exceeded(&after(&wider, |_| ()), &wider), None);
    assert_eq!(exceeded(&sent, &wider), None, "another request");
}
