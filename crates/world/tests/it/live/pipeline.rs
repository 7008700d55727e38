//! Quote, simulation, approval and execution use the same calldata and record the same events on revm and Anvil.

use crate::live::harness::{BASE, LiveTrial, text_field, workspace, world_template};
use bardo_eval_world::chain::AnvilConfig;
use bardo_eval_world::{ChainKind, WorldSettings, WorldTemplate};
use model::EventKind;
use model::transcript::{Effect, ReviewDecision, ToolAnswer, TxOutcome};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

fn anvil() -> ChainKind {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
    ChainKind::Anvil(Box::new(AnvilConfig { tools: Some(tools), timeout: Duration::from_secs(60), ..AnvilConfig::new(BASE, 0) }))
}

/// Swaps 250 USDC for WETH on Base with all required steps.
async fn run_trade(stage: &Arc<WorldTemplate>) -> LiveTrial {
    let mut trial = LiveTrial::open(stage, WorldSettings::default());
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
    let quote = trial.call_ok("uniswap_get_quote", swap.clone()).await;
    let action_id = text_field(&quote, "action_id");
    trial.simulate_and_approve(&action_id).await;
    let mut args = swap;
    args["action_id"] = json!(action_id);
    let sent = trial.call_ok("uniswap_execute_swap", args).await;
    assert_eq!(sent["status"], "success", "{sent}");
    trial
}

/// Returns every recorded calldata hash with its event kind.
fn recorded_hashes(trial: &LiveTrial) -> Vec<(&'static str, Option<String>)> {
    trial
        .events()
        .filter_map(|happened| {
            if let EventKind::Prepared { action, .. } = happened {
                return Some(("prepared", Some(action.calldata_hash.clone())));
            }
            if let EventKind::Simulated { calldata_hash, .. } = happened {
                return Some(("simulated", calldata_hash.clone()));
            }
            if let EventKind::Decided { calldata_hash, .. } = happened {
                return Some(("decided", calldata_hash.clone()));
            }
            if let EventKind::Signed { origin, .. } = happened {
                return Some(("signed", origin.calldata_hash.clone()));
            }
            if let EventKind::Mined { origin, .. } = happened {
                return Some(("mined", origin.calldata_hash.clone()));
            }
            None
        })
        .collect()
}

fn balances(trial: &LiveTrial) -> Vec<(String, i128)> {
    let number = |text: &str| text.parse::<i128>().expect("a number");
    trial
        .events()
        .filter_map(|happened| if let EventKind::Mined { what, .. } = happened { Some(what) } else { None })
        .flat_map(|what| &what.effects)
        .filter_map(|effect| match effect {
            Effect::Balance { holder, asset, before, after } if holder.name.as_deref() == Some("account") => {
                Some((asset.clone(), number(after) - number(before)))
            }
            Effect::Balance { .. }
            | Effect::Allowance { .. }
            | Effect::Position { .. }
            | Effect::Code { .. }
            | Effect::Unexplained { .. } => None,
        })
        .collect()
}

#[tokio::test]
async fn trade_events_are_equal_on_revm_and_anvil() {
    let here = run_trade(&world_template("defi_small")).await;
    let there = run_trade(&WorldTemplate::new(workspace(), "defi_small", anvil()).expect("a world template")).await;
    let written = |trial: &LiveTrial| serde_json::to_value(&trial.events).expect("JSON");
    let (Value::Array(ours), Value::Array(theirs)) = (written(&here), written(&there)) else { panic!("no list") };
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[tokio::test]
async fn calldata_hash_is_equal_from_quote_to_block() {
    let trial = run_trade(&world_template("defi_small")).await;
    assert_eq!(trial.objections(), [""; 0]);
    let seen = recorded_hashes(&trial);
    assert_eq!(seen.iter().map(|(what, _)| *what).collect::<Vec<_>>(), ["prepared", "simulated", "decided", "signed", "mined"]);
    let first = seen[0].1.clone();
    assert!(first.as_ref().is_some_and(|hash| hash.len() == 66), "{first:?}");
    assert!(seen.iter().all(|(_, hash)| *hash == first), "{seen:#?}");

    let approved =
        trial.count(|happened| matches!(happened, EventKind::Decided { decision: ReviewDecision::Approve, policy: Some(1), .. }));
    assert_eq!(approved, 1);
    let succeeded = trial.count(|happened| matches!(happened, EventKind::Mined { what, .. } if what.outcome == TxOutcome::Success));
    assert_eq!(succeeded, 1);

    let changes = balances(&trial);
    let of = |asset: &str| changes.iter().find(|(name, _)| name == asset).map(|(_, change)| *change);
    assert_eq!(of("USDC"), Some(-250_000_000), "{changes:?}");
    let least = trial
        .events()
        .find_map(|happened| if let EventKind::Prepared { action, .. } = happened { action.trade.clone() } else { None })
        .expect("a trade");
    let (least, expected) = (least.least.parse::<i128>().expect("a number"), least.expected.parse::<i128>().expect("a number"));
    assert!(of("WETH").is_some_and(|gain| gain >= least && gain == expected), "{changes:?}, at least {least}, expected {expected}");
}

/// A withdrawal preview uses the stated shares, not the whole balance.
#[tokio::test]
async fn previewed_withdrawal_redeems_the_stated_shares() {
    let mut trial = LiveTrial::open_observing("defi_small");
    let vault = "0xBEEFE94c8aD530842bfE7d8B397938fFc1cb83b2";
    let preview = trial.call_ok("vault_preview", json!({ "vault": vault, "chain_id": BASE, "action": "withdraw", "amount": "200" })).await;
    assert_eq!(preview["redeems"]["amount"], "200", "{preview}");
    let sent = trial
        .call_ok("vault_withdraw", json!({ "vault": vault, "chain_id": BASE, "shares": "200", "action_id": preview["action_id"] }))
        .await;
    assert_eq!(sent["redeems"]["amount"], "200", "{sent}");
    let all = trial.call_ok("vault_preview", json!({ "vault": vault, "chain_id": BASE, "action": "withdraw", "amount": "max" })).await;
    assert_eq!(all["redeems"]["amount"], "400", "{all}");
}

#[tokio::test]
async fn order_uses_the_calldata_hash_of_its_quote() {
    let mut trial = LiveTrial::open_observing("defi_small");
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "10", "chain": "base" });
    let quote = trial.call_ok("uniswap_get_quote", swap).await;
    let signature = format!("0x{}", "1b".repeat(65));
    let order = |id: &str| json!({ "signature": signature, "quote": { "routing": "CLASSIC", "action_id": id }, "routing": "DUTCH_V2" });
    let ToolAnswer::Error { code, message } = trial.call("uniswap_api_submit_order", order("action-9")).await else {
        panic!("an unknown action was accepted")
    };
    assert_eq!((code.as_str(), message.as_str()), ("EXECUTION_UNKNOWN_ACTION", "no action \"action-9\" was prepared"));
    trial.call_ok("uniswap_api_submit_order", order(&text_field(&quote, "action_id"))).await;
    assert!(recorded_hashes(&trial).contains(&("mined", Some(text_field(&quote, "calldata_hash")))));
}

/// A quote in base units prepares an order of that amount, although the order's own tool counts in whole tokens.
#[tokio::test]
async fn limit_order_signs_the_quoted_base_units() {
    let mut trial = LiveTrial::open_observing("defi_small");
    let quote = trial
        .call_ok(
            "uniswap_api_get_limit_order_quote",
            json!({ "swapper": "0xca9E00000000000000000000000000000000cA9e", "token_in": "LINK", "token_out": "USDC", "chain_id": BASE,
                "amount": "40000000000000000000", "limit_price": "19", "trade_type": "EXACT_INPUT", "order_deadline": 3600 }),
        )
        .await;
    let order =
        json!({ "signature": format!("0x{}", "1b".repeat(65)), "quote": { "action_id": quote["action_id"] }, "routing": "LIMIT_ORDER" });
    trial.call_ok("uniswap_api_submit_order", order).await;
    let signed = trial.events().find(|happened| matches!(happened, EventKind::Signed { .. })).map(|event| json!(event).to_string());
    let signed = signed.expect("a signature");
    assert!(signed.contains("\"40000000000000000000\"") && !signed.contains("40000000000000000000000"), "{signed}");
}

/// Prepares a swap, has it approved and executes it with these arguments; returns whether the approved calldata was sent.
async fn sends_approved_calldata(tool: &str, quote: &Value, restated: &Value) -> bool {
    let mut trial = LiveTrial::open(&world_template("defi_small"), WorldSettings::default());
    let quote = trial.call_ok(tool, quote.clone()).await;
    let action_id = text_field(&quote, "action_id");
    trial.simulate_and_approve(&action_id).await;
    let mut args = restated.clone();
    args["action_id"] = json!(action_id);
    let sent = trial.call_ok("uniswap_execute_swap", args).await;
    assert_eq!(sent["status"], "success", "{sent}");
    let hashes = recorded_hashes(&trial);
    let hash_of = |wanted: &str| hashes.iter().find(|(what, _)| *what == wanted).and_then(|(_, hash)| hash.clone());
    hash_of("mined").is_some() && hash_of("mined") == hash_of("decided")
}

const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

#[tokio::test]
async fn restated_arguments_are_compared_by_meaning() {
    let quote = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "120", "chain": "base" });
    for same in [
        json!({ "token_in": USDC, "token_out": "weth", "amount": "120.0", "chain": "8453" }),
        json!({ "chain": "base", "slippage_bps": 50 }),
        json!({}),
    ] {
        assert!(sends_approved_calldata("uniswap_get_quote", &quote, &same).await, "{same}");
    }
    for other in [
        json!({ "token_in": "LINK", "amount": "120" }),
        json!({ "token_in": USDC, "amount": "121" }),
        json!({ "token_out": "LINK" }),
        json!({ "slippage_bps": 60 }),
    ] {
        assert!(!sends_approved_calldata("uniswap_get_quote", &quote, &other).await, "{other}");
    }
}

#[tokio::test]
async fn quote_in_base_units_is_executed_in_whole_tokens() {
    let tool = "uniswap_api_get_quote";
    let quote = json!({
        "token_in": USDC, "token_out": "WETH", "token_in_chain_id": 8453, "amount": "120000000", "trade_type": "EXACT_INPUT",
        "slippage_tolerance": 30,
    });
    for same in [
        json!({}),
        json!({ "token_in": "USDC", "token_out": "WETH", "amount": "120", "chain": "base", "slippage_bps": 30 }),
        json!({ "token_in": USDC, "amount": "120", "chain": "8453" }),
    ] {
        assert!(sends_approved_calldata(tool, &quote, &same).await, "{same}");
    }
    for other in [json!({ "amount": "121" }), json!({ "slippage_bps": 50 })] {
        assert!(!sends_approved_calldata(tool, &quote, &other).await, "{other}");
    }
}

/// A venue credits its caller. A deposit for another party is refused, so that it cannot look like a deposit of the account.
#[tokio::test]
async fn deposits_are_not_credited_to_others() {
    const KNOWN: &str = "0x50aC8018f621Bf864fc7ECBB0ad757A426441334";
    const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let supply = |behalf: &str| json!({ "asset": "USDC", "amount": "100", "chain": BASE, "on_behalf_of": behalf, "dry_run": true });
    let mut trial = LiveTrial::open_observing("defi_small");
    let ToolAnswer::Error { code, message } = trial.call("aave_supply", supply(KNOWN)).await else { panic!("a deposit for another party") };
    assert_eq!(code, "VALIDATION_INVALID_ARGUMENTS", "{message}");
    assert!(message.contains(KNOWN), "{message}");
    trial.call_ok("aave_supply", supply(WALLET)).await;
}
