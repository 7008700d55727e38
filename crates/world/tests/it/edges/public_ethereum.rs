//! viem reads, signs and sends through the RPC; every signature and transaction is recorded as an event.

use alloy_primitives::{Address, U256, address};
use bardo_eval_world::chain::CONFIRMATION_BLOCKS;
use bardo_eval_world::chain::genesis::ACCOUNT;
use bardo_eval_world::endpoints::TrialEndpoints;
use bardo_eval_world::{ChainAccess, World};
use model::transcript::{Effect, Event, EventKind, MinedTransaction, SignatureRequest, TxOutcome};
use serde_json::{Value, json};

use crate::edges::small::{SmallWorld, as_shared, toolset};
use crate::edges::{node_modules, run_node_script};

const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const OPERATOR: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const STRANGER: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");

fn signed(events: &[Event]) -> Vec<&SignatureRequest> {
    events.iter().filter_map(|event| if let EventKind::Signed { what, .. } = &event.happened { Some(&**what) } else { None }).collect()
}

fn blocks(events: &[Event]) -> Vec<&MinedTransaction> {
    events.iter().filter_map(|event| if let EventKind::Mined { what, .. } = &event.happened { Some(&**what) } else { None }).collect()
}

#[tokio::test]
async fn viem_reads_signs_and_sends() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let (usdc, router) = {
        let mut world = world.lock().await;
        let book = world.address_book(8453).await.unwrap();
        (book.find("USDC").unwrap(), book.find("SwapRouter02").unwrap())
    };
    let job = json!({
        "tools": node_modules("viem"), "url": edges.rpc_url(8453), "chain": 8453, "key": KEY, "usdc": usdc, "account": ACCOUNT, "router": router,
        "stranger": STRANGER,
    });
    let (seen, _) = run_node_script("viem_client.mjs", &job).await;

    assert_eq!(seen["chain"], 8453);
    assert_eq!(seen["block"], seen["sameBlock"]);
    assert_eq!(seen["balance"], "1000000000000000000");
    assert_eq!(seen["usdc"], "5000000000");
    assert_eq!(seen["code"], true);
    assert_eq!(seen["fees"]["maxPriorityFeePerGas"], "0");
    assert_eq!(seen["history"], 5);
    assert_eq!(seen["addresses"], json!([OPERATOR]));
    let raw = seen["raw"].as_array().unwrap();
    let block: u64 = seen["block"].as_str().unwrap().parse().unwrap();
    for (at, kind) in ["eip1559", "legacy", "eip2930"].iter().enumerate() {
        assert_eq!((&raw[at]["right"], &raw[at]["status"]), (&json!(true), &json!("success")), "{kind}");
        assert_eq!((&raw[at]["type"], &raw[at]["typed"]), (&json!(kind), &json!(kind)));
        assert_eq!(raw[at]["block"], (block + 1 + at as u64 * (1 + CONFIRMATION_BLOCKS)).to_string());
    }
    assert_eq!(raw[0]["gas"], "21000");
    assert_eq!(seen["received"], "3000");
    assert_eq!(seen["delegated"]["status"], "success");
    assert_eq!(seen["delegated"]["code"], format!("0xef0100{:x}", router));
    assert_eq!(seen["moved"]["status"], "success");
    assert_eq!(seen["transfers"], json!([{ "from": ACCOUNT.to_checksum(None), "to": STRANGER.to_checksum(None), "value": "5000000" }]));
    assert_eq!(seen["none"], 0);
    assert_eq!(seen["usdcAfter"], "4995000000");
    assert_eq!((&seen["reverted"], &seen["sent"]), (&json!("reverted"), &json!("success")));
    assert!(seen["estimate"]["message"].as_str().unwrap().contains("reverted"), "{}", seen["estimate"]);
    for proof in ["typed", "personal", "bare", "signedOnly"] {
        assert_eq!(seen[proof], true, "{proof}");
    }
    for (what, words) in [
        ("low", "nonce too low"),
        ("high", "nonce too high"),
        ("highAgain", "nonce too high"),
        ("chain", "invalid chain id"),
        ("poor", "insufficient funds"),
        ("cheap", "less than block base fee"),
        ("stranger", "unknown account"),
        ("method", "does not exist"),
        ("past", "only the state of the latest block"),
        ("missing", "could not be found"),
        ("unprotected", "only replay-protected"),
        ("again", "already known"),
    ] {
        assert!(seen["refused"][what].to_string().contains(words), "{what}: {}", seen["refused"][what]);
    }
    check_events(&world.lock().await.take_events(), seen["fresh"].as_str().unwrap());
}

fn check_events(events: &[Event], fresh: &str) {
    assert!(events.iter().all(|event| event.by == "trade-executor"));
    let mined = blocks(events);
    // Three payments, a delegation, a transfer through the account, a reverted one, a payment, one to a new key and one from it.
    assert_eq!(mined.len(), 9);
    assert!(mined[..8].iter().all(|mined| mined.chain == 8453 && mined.from.address == OPERATOR && mined.from.own));
    assert_eq!((mined[8].from.address.as_str(), mined[8].from.own, mined[8].value.as_str()), (fresh, false, "3"));
    assert!(
        mined[3]
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Code { delegates_to: Some(to), .. } if to.name.as_deref() == Some("SwapRouter02")))
    );
    assert_eq!(mined[4].inner[0].call.as_ref().unwrap().name, "transfer");
    assert_eq!(mined[4].logs.iter().filter(|log| log.event.name == "Transfer").count(), 1);
    assert!(matches!(mined[5].outcome, TxOutcome::Reverted { .. }));
    let first = mined[0].nonce;
    let nonces: Vec<u64> = mined[..8].iter().map(|mined| mined.nonce - first).collect();
    assert_eq!((nonces.as_slice(), mined[8].nonce), ([0, 1, 2, 3, 5, 6, 7, 8].as_slice(), 0));

    let signed = signed(events);
    let transactions: Vec<u64> =
        signed.iter().filter_map(|what| if let SignatureRequest::Transaction { chain, .. } = what { Some(*chain) } else { None }).collect();
    // Seven sent, one only signed, five refused by the chain (one for another chain), and the payment to the new key.
    // Identical bytes count as one signature.
    assert_eq!(transactions, [vec![8453; 10], vec![5], vec![8453; 3]].concat());
    let authorizations = signed.iter().filter(|what| matches!(what, SignatureRequest::Authorization { signer, delegate, .. } if signer.own && delegate.name.as_deref() == Some("SwapRouter02")));
    assert_eq!(authorizations.count(), 1);
    let typed: Vec<(&str, Value)> = signed
        .iter()
        .filter_map(|what| {
            if let SignatureRequest::Typed { primary, message, .. } = what {
                Some((primary.as_str(), Value::Object(message.clone())))
            } else {
                None
            }
        })
        .collect();
    assert_eq!(typed.iter().map(|(primary, _)| *primary).collect::<Vec<_>>(), ["Permit", "RawMessage", "RawMessage"]);
    assert_eq!(typed[0].1["spender"].as_str().unwrap().to_lowercase(), STRANGER.to_string().to_lowercase());
    assert_eq!(typed[0].1["value"], U256::MAX.to_string());
    assert_eq!((&typed[1].1["method"], &typed[1].1["text"]), (&json!("personal_sign"), &json!("I agree to everything.")));
    assert_eq!((&typed[2].1["method"], typed[2].1["bytes"].as_str().unwrap().len()), (&json!("eth_sign"), 66));
    // Each signature is recorded before its transaction.
    let order = crate::edges::event_kinds(events);
    assert_eq!(order[..4], ["signed", "mined", "signed", "mined"]);
}
