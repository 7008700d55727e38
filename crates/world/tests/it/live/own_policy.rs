//! World with a policy contract of the workspace in place of the built-in account contract.

use super::harness::{BASE, LiveTrial, error_code};
use alloy_primitives::{U256, hex};
use bardo_eval_world::chain::genesis::ACCOUNT;
use bardo_eval_world::{ChainAccess, ChainKind, WorldSettings, WorldTemplate};
use model::transcript::TxOutcome;
use model::{EventKind, Workspace, WorkspaceFiles};
use serde_json::{Value, json};
use std::sync::Arc;

const CAP_POLICY: &str = include_str!("../../../../../contracts/artifacts/examples/CapPolicy.json");
const FRIEND: &str = "0x50aC8018f621Bf864fc7ECBB0ad757A426441334";

fn trial(contract: &str, artifact: &str) -> LiveTrial {
    let mut files: WorkspaceFiles = testkit::reference_files().clone();
    let policy = format!("{}\ncontract: {contract}\n", files.get("policy.yaml").expect("a policy"));
    files.insert("policy.yaml", policy);
    files.insert("contracts/CapPolicy.json", artifact);
    let workspace = Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let template = WorldTemplate::new(Arc::new(workspace), "defi_rich", ChainKind::Embedded).expect("a template");
    LiveTrial::open(&template, WorldSettings::default())
}

fn payment(amount: &str) -> Value {
    json!({ "token": "USDC", "recipient": FRIEND, "amount": amount, "chain_id": BASE })
}

#[tokio::test]
async fn own_policy_contract_is_the_account() {
    let mut trial = trial("{ artifact: contracts/CapPolicy.json, constructor: [operator, 20000000000] }", CAP_POLICY);
    // More than the built-in contract allows in one transaction.
    trial.call_ok("wallet_transfer_token", payment("15000")).await;
    let mined = trial.events().find_map(|happened| if let EventKind::Mined { what, .. } = happened { Some(what.clone()) } else { None });
    let mined = mined.expect("a transaction");
    assert_eq!(mined.inner.len(), 1, "calls of the account are decoded");
    assert!(
        mined.logs.iter().any(|log| log.by.own && log.event.name == "unknown" && log.event.args.contains_key("data")),
        "{:?}",
        mined.logs
    );
    assert!(trial.objections().contains(&"spending".to_owned()), "hooks follow the policy file: {:?}", trial.objections());

    trial.events.clear();
    let refused = trial.call("wallet_transfer_token", payment("20000.000001")).await;
    assert_eq!(error_code(&refused), "EXECUTION_TX_REVERTED");
    let outcome =
        trial.events().find_map(|happened| if let EventKind::Mined { what, .. } = happened { Some(what.outcome.clone()) } else { None });
    let Some(TxOutcome::Reverted { error }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.name, "unknown", "its errors are recorded as raw data");
    assert!(error.args["data"].as_str().is_some_and(|data| data.len() == 2 + 2 * 68), "{error:?}");
}

/// A swap needs an allowance and the trade in one batch; positions of the world are set up as ever.
#[tokio::test]
async fn own_policy_contract_trades() {
    let mut trial = trial("{ artifact: contracts/CapPolicy.json, constructor: [operator, 1] }", CAP_POLICY);
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "100", "chain": "base" });
    let sent = trial.call_ok("uniswap_execute_swap", swap).await;
    assert_eq!(sent["status"], "success", "{sent}");
    let (_, overview) = trial.state(BASE).await;
    assert!(overview.contains("limits: None") && overview.contains("supplied"), "{overview}");
}

#[tokio::test]
async fn storage_of_an_own_policy_contract_is_set() {
    let mut artifact: Value = serde_json::from_str(CAP_POLICY).expect("JSON");
    // Runtime code with the operator in place of the immutable, as a contract without immutables would have it.
    artifact["deployedBytecode"]["immutableReferences"] = json!({});
    let mut trial = trial("{ artifact: contracts/CapPolicy.json, storage: { \"0\": \"0x2a\" } }", &artifact.to_string());
    let chain = trial.world.chain(BASE).await.expect("a chain");
    assert_eq!(U256::from_be_bytes(chain.storage(ACCOUNT, U256::ZERO).await.expect("a slot").0), U256::from(42));
    let code = chain.code(ACCOUNT).await.expect("code");
    assert_eq!(hex::encode_prefixed(code), artifact["deployedBytecode"]["object"].as_str().expect("code"));
}

#[tokio::test]
async fn constructor_writes_storage_of_the_account() {
    let mut trial = trial("{ artifact: contracts/CapPolicy.json, constructor: [operator, 77] }", CAP_POLICY);
    let chain = trial.world.chain(BASE).await.expect("a chain");
    assert_eq!(U256::from_be_bytes(chain.storage(ACCOUNT, U256::ZERO).await.expect("a slot").0), U256::from(77));
}
