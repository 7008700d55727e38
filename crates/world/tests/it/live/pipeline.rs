//! Quote, simulate, ask the guardian, send: the same calldata all the way, and the same events on revm and on Anvil.

use crate::live::harness::{BASE, Trial, stage, text, workspace};
use bardo_eval_world::chain::AnvilConfig;
use bardo_eval_world::{ChainKind, Setup, WorldTemplate};
use model::Happened;
use model::transcript::{Decision, Effect, ToolAnswer, TxOutcome};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

fn anvil() -> ChainKind {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
    ChainKind::Anvil(Box::new(AnvilConfig { tools: Some(tools), time: Duration::from_secs(60), ..AnvilConfig::new(BASE, 0) }))
}

/// 250 USDC for WETH on Base, by the book.
async fn trade(stage: &Arc<WorldTemplate>) -> Trial {
    let mut trial = Trial::open(stage, Setup::default());
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
    let quote = trial.get("uniswap_get_quote", swap.clone()).await;
    let action_id = text(&quote, "action_id");
    trial.clear(&action_id).await;
    let mut args = swap;
    args["action_id"] = json!(action_id);
    let sent = trial.get("uniswap_execute_swap", args).await;
    assert_eq!(sent["status"], "success", "{sent}");
    trial
}

/// Every hash of calldata that was recorded, with the kind of event.
fn calldata_hash(trial: &Trial) -> Vec<(&'static str, Option<String>)> {
    trial
        .happened()
        .filter_map(|happened| {
            if let Happened::Prepared { action, .. } = happened {
                return Some(("prepared", Some(action.calldata_hash.clone())));
            }
            if let Happened::Simulated { calldata_hash, .. } = happened {
                return Some(("simulated", calldata_hash.clone()));
            }
            if let Happened::Decided { calldata_hash, .. } = happened {
                return Some(("decided", calldata_hash.clone()));
            }
            if let Happened::Signed { origin, .. } = happened {
                return Some(("signed", origin.calldata_hash.clone()));
            }
            if let Happened::Mined { origin, .. } = happened {
                return Some(("mined", origin.calldata_hash.clone()));
            }
            None
        })
        .collect()
}

fn balances(trial: &Trial) -> Vec<(String, i128)> {
    let number = |text: &str| text.parse::<i128>().expect("a number");
    trial
        .happened()
        .filter_map(|happened| if let Happened::Mined { what, .. } = happened { Some(what) } else { None })
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
async fn a_trade_by_the_book_is_the_same_on_both_chains() {
    let here = trade(&stage("defi_small")).await;
    let there = trade(&WorldTemplate::new(workspace(), "defi_small", anvil()).expect("a world template")).await;
    let written = |trial: &Trial| serde_json::to_value(&trial.events).expect("JSON");
    let (Value::Array(ours), Value::Array(theirs)) = (written(&here), written(&there)) else { panic!("no list") };
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[tokio::test]
async fn one_calldata_from_the_quote_to_the_block() {
    let trial = trade(&stage("defi_small")).await;
    assert_eq!(trial.objections(), [""; 0]);
    let seen = calldata_hash(&trial);
    assert_eq!(seen.iter().map(|(what, _)| *what).collect::<Vec<_>>(), ["prepared", "simulated", "decided", "signed", "mined"]);
    let first = seen[0].1.clone();
    assert!(first.as_ref().is_some_and(|hash| hash.len() == 66), "{first:?}");
    assert!(seen.iter().all(|(_, hash)| *hash == first), "{seen:#?}");

    let approved = trial.count(|happened| matches!(happened, Happened::Decided { decision: Decision::Approve, policy: Some(1), .. }));
    assert_eq!(approved, 1);
    let succeeded = trial.count(|happened| matches!(happened, Happened::Mined { what, .. } if what.outcome == TxOutcome::Success));
    assert_eq!(succeeded, 1);

    let changes = balances(&trial);
    let of = |asset: &str| changes.iter().find(|(name, _)| name == asset).map(|(_, change)| *change);
    assert_eq!(of("USDC"), Some(-250_000_000), "{changes:?}");
    let least = trial
        .happened()
        .find_map(|happened| if let Happened::Prepared { action, .. } = happened { action.trade.clone() } else { None })
        .expect("a trade");
    let (least, expected) = (least.least.parse::<i128>().expect("a number"), least.expected.parse::<i128>().expect("a number"));
    assert!(of("WETH").is_some_and(|gain| gain >= least && gain == expected), "{changes:?}, at least {least}, expected {expected}");
}

/// What a preview of a withdrawal names are shares, not everything there is.
#[tokio::test]
async fn a_previewed_withdrawal_takes_out_as_much_as_it_says() {
    let mut trial = Trial::observing("defi_small");
    let vault = "0xBEEFE94c8aD530842bfE7d8B397938fFc1cb83b2";
    let preview = trial.get("vault_preview", json!({ "vault": vault, "chain_id": BASE, "action": "withdraw", "amount": "200" })).await;
    assert_eq!(preview["redeems"]["amount"], "200", "{preview}");
    let sent =
        trial.get("vault_withdraw", json!({ "vault": vault, "chain_id": BASE, "shares": "200", "action_id": preview["action_id"] })).await;
    assert_eq!(sent["redeems"]["amount"], "200", "{sent}");
    let all = trial.get("vault_preview", json!({ "vault": vault, "chain_id": BASE, "action": "withdraw", "amount": "max" })).await;
    assert_eq!(all["redeems"]["amount"], "400", "{all}");
}

#[tokio::test]
async fn an_order_is_the_one_of_its_quote_and_not_of_its_signature() {
    let mut trial = Trial::observing("defi_small");
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "10", "chain": "base" });
    let quote = trial.get("uniswap_get_quote", swap).await;
    let signature = format!("0x{}", "1b".repeat(65));
    let order = |id: &str| json!({ "signature": signature, "quote": { "routing": "CLASSIC", "action_id": id }, "routing": "DUTCH_V2" });
    let ToolAnswer::Error { code, message } = trial.call("uniswap_api_submit_order", order("action-9")).await else {
        panic!("nobody prepared it")
    };
    assert_eq!((code.as_str(), message.as_str()), ("EXECUTION_UNKNOWN_ACTION", "no action \"action-9\" was prepared"));
    trial.get("uniswap_api_submit_order", order(&text(&quote, "action_id"))).await;
    assert!(calldata_hash(&trial).contains(&("mined", Some(text(&quote, "calldata_hash")))));
}
