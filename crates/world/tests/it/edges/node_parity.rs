//! The RPC answers like a node for every transaction of a trial, however it was made, and alike on embedded and Anvil chains.

use std::path::PathBuf;
use std::sync::Arc;

use alloy_primitives::{Address, U256, address};
use alloy_sol_types::SolCall;
use bardo_eval_world::chain::bindings::{Multicall3, Token};
use bardo_eval_world::chain::genesis::{ACCOUNT, MULTICALL3};
use bardo_eval_world::chain::{AnvilConfig, CONFIRMATION_BLOCKS};
use bardo_eval_world::endpoints::TrialEndpoints;
use bardo_eval_world::{ActingAgent, ChainAccess, ChainKind, LiveWorld, World, WorldSettings, WorldTemplate};
use model::transcript::{Effect, Event, EventKind, MinedTransaction, SignatureRequest, ToolAnswer};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::edges::http::rpc_request;
use crate::edges::small::toolset;
use crate::edges::{node_modules, run_node_script};

const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const STRANGER: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");
const BASE: u64 = 8453;

fn anvil() -> ChainKind {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
    ChainKind::Anvil(Box::new(AnvilConfig { tools: Some(tools), ..AnvilConfig::new(0, 0) }))
}

struct ServedWorld {
    world: Arc<Mutex<LiveWorld>>,
    edges: TrialEndpoints,
}

impl ServedWorld {
    async fn open(kind: ChainKind) -> Self {
        let template = WorldTemplate::new(testkit::reference_workspace(), "defi_small", kind).unwrap();
        let world = Arc::new(Mutex::new(LiveWorld::new(&template, WorldSettings::default())));
        let edges = TrialEndpoints::open("trial", world.clone(), toolset()).await.unwrap();
        Self { world, edges }
    }

    async fn call(&self, tool: &str, args: Value) -> Value {
        let who = ActingAgent::new("trade-executor", 0);
        let mut world = self.world.lock().await;
        let call = world.record_call(&who, tool, &args);
        match world.call(&who, call, tool, &args).await {
            ToolAnswer::Result(value) => value,
            ToolAnswer::Error { code, message } => panic!("{tool}: {code} {message}"),
        }
    }

    async fn rpc(&self, chain: u64, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut answer = rpc_request(&self.edges, chain, &request.to_string()).await;
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].take()
    }

    async fn address(&self, name: &str) -> Address {
        self.world.lock().await.address_book(BASE).await.unwrap().find(name).unwrap()
    }

    async fn events(&self) -> Vec<Event> {
        self.world.lock().await.take_events()
    }
}

fn number(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn mined(events: &[Event]) -> Vec<&MinedTransaction> {
    events.iter().filter_map(|event| if let EventKind::Mined { what, .. } = &event.happened { Some(&**what) } else { None }).collect()
}

/// Makes transactions by tool, by the bridge's keeper and over RPC, and returns all that a node knows about them.
async fn node_answers(kind: ChainKind) -> (Vec<Value>, String) {
    let served = ServedWorld::open(kind).await;
    let operator: Value = served.rpc(BASE, "eth_accounts", json!([])).await[0].clone();
    let filters = [
        served.rpc(BASE, "eth_newFilter", json!([{ "address": served.address("USDC").await }])).await,
        served.rpc(BASE, "eth_newBlockFilter", json!([])).await,
        served.rpc(BASE, "eth_newPendingTransactionFilter", json!([])).await,
    ];
    let before = served.rpc(BASE, "eth_getTransactionCount", json!([operator, "latest"])).await;
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
    let swap = served.call("uniswap_execute_swap", swap).await;
    let bridge = json!({ "bridge": "across", "token": "USDC", "amount": "50", "source_chain": BASE, "dest_chain": 1 });
    let bridge = served.call("bridge_execute", bridge).await;
    let sent = served.rpc(BASE, "eth_sendTransaction", json!([{ "from": operator, "to": STRANGER, "value": "0x7" }])).await;
    let hashes = [swap["tx_hash"].clone(), bridge["tx_hash"].clone(), sent];
    let mut seen = vec![swap.clone()];
    for (nth, hash) in hashes.iter().enumerate() {
        let receipt = served.rpc(BASE, "eth_getTransactionReceipt", json!([hash])).await;
        let transaction = served.rpc(BASE, "eth_getTransactionByHash", json!([hash])).await;
        assert_eq!((&receipt["transactionHash"], &transaction["hash"], &receipt["status"]), (hash, hash, &json!("0x1")));
        assert_eq!(number(&transaction["nonce"]), number(&before) + nth as u64);
        assert_eq!(transaction["blockNumber"], receipt["blockNumber"]);
        let block = served.rpc(BASE, "eth_getBlockByNumber", json!([receipt["blockNumber"], false])).await;
        let full = served.rpc(BASE, "eth_getBlockByHash", json!([receipt["blockHash"], true])).await;
        assert_eq!((&block["transactions"], &full["transactions"]), (&json!([hash]), &json!([transaction])));
        assert_eq!(served.rpc(BASE, "eth_getBlockReceipts", json!([receipt["blockHash"]])).await, json!([receipt]));
        assert_eq!(served.rpc(BASE, "eth_getBlockTransactionCountByHash", json!([receipt["blockHash"]])).await, "0x1");
        seen.extend([receipt, transaction, block]);
    }
    assert_eq!(json!(number(&seen[1]["blockNumber"])), swap["block"]);
    let head = served.rpc(BASE, "eth_blockNumber", json!([])).await;
    assert_eq!(number(&head), number(&seen[7]["blockNumber"]) + CONFIRMATION_BLOCKS);
    // State of the blocks after the last transaction is the present one.
    served.rpc(BASE, "eth_getBalance", json!([operator, seen[7]["blockNumber"]])).await;
    for filter in &filters {
        let changes = served.rpc(BASE, "eth_getFilterChanges", json!([filter])).await;
        assert!(!changes.as_array().unwrap().is_empty());
        assert_eq!(served.rpc(BASE, "eth_getFilterChanges", json!([filter])).await, json!([]));
        seen.push(changes);
    }
    let logs = served.rpc(BASE, "eth_getFilterLogs", json!([filters[0]])).await;
    let all = served.rpc(BASE, "eth_getLogs", json!([{ "fromBlock": "earliest", "address": served.address("USDC").await }])).await;
    assert!(all.as_array().unwrap().len() >= 2 && logs == json!([]), "a filter without fromBlock starts at the latest block");
    assert_eq!(served.rpc(BASE, "eth_uninstallFilter", json!([filters[0]])).await, true);
    // The keeper's payout on the other chain.
    let arrived = served.rpc(1, "eth_getLogs", json!([{ "fromBlock": "0x0" }])).await;
    let payout = served.rpc(1, "eth_getTransactionReceipt", json!([arrived[0]["transactionHash"]])).await;
    seen.extend([all, arrived, payout]);
    // Headers from the first block on are linked.
    let mut parent = served.rpc(BASE, "eth_getBlockByNumber", json!(["earliest", false])).await;
    for at in (1..=40).chain(number(&head) - 70..=number(&head)) {
        let block = served.rpc(BASE, "eth_getBlockByNumber", json!([format!("{at:#x}"), false])).await;
        if at != number(&head) - 70 {
            assert_eq!(block["parentHash"], parent["hash"], "{at}");
            assert!(number(&block["timestamp"]) >= number(&parent["timestamp"]));
        }
        parent = block;
    }
    assert_eq!(served.rpc(BASE, "eth_getBlockByNumber", json!([format!("{:#x}", number(&head) + 1), false])).await, Value::Null);
    let data = Token::transferCall { to: STRANGER, value: U256::ONE }.abi_encode();
    let call = json!({ "from": ACCOUNT, "to": served.address("USDC").await, "data": alloy_primitives::hex::encode_prefixed(data) });
    let list = served.rpc(BASE, "eth_createAccessList", json!([call])).await;
    assert!(list["accessList"][0]["storageKeys"].as_array().unwrap().len() >= 2, "{list}");
    seen.push(list);
    seen.push(served.rpc(BASE, "eth_feeHistory", json!(["0x100", "latest", [10]])).await);
    (seen, serde_json::to_string(&served.events().await).unwrap())
}

#[tokio::test]
async fn rpc_knows_every_transaction_alike_on_both_chains() {
    let (here, events) = node_answers(ChainKind::Embedded).await;
    let (again, same) = node_answers(ChainKind::Embedded).await;
    assert_eq!((here.clone(), &events), (again, &same), "twice");
    let (there, elsewhere) = node_answers(anvil()).await;
    for (nth, (here, there)) in here.iter().zip(&there).enumerate() {
        assert_eq!(here, there, "answer {nth}");
    }
    assert_eq!((here.len(), events), (there.len(), elsewhere));
}

/// viem, ethers and cast wait for the transaction of a tool, read through Multicall3 and delegate with EIP-7702, each with its defaults.
async fn public_clients(kind: ChainKind) -> Vec<Event> {
    let served = ServedWorld::open(kind).await;
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
    let hash = served.call("uniswap_execute_swap", swap).await["tx_hash"].clone();
    let job = json!({
        "tools": node_modules("viem"), "url": served.edges.rpc_url(BASE), "mainnet": served.edges.rpc_url(1), "chain": BASE, "key": KEY, "hash": hash,
        "account": ACCOUNT, "usdc": served.address("USDC").await, "router": served.address("SwapRouter02").await, "stranger": STRANGER,
    });
    let (seen, _) = run_node_script("node_clients.mjs", &job).await;
    for (client, what) in [("viem", "receipt"), ("viem", "confirmed"), ("ethers", "receipt"), ("ethers", "confirmed"), ("cast", "receipt")]
    {
        assert_eq!(seen[client][what], "success", "{client} {what}: {seen:#}");
    }
    for client in ["viem", "ethers", "cast"] {
        assert_eq!(seen[client]["delegated"], "success", "{client}: {seen:#}");
        assert_eq!(seen[client]["transaction"], hash, "{client}: {seen:#}");
    }
    assert_eq!((&seen["viem"]["multicall"][0], &seen["viem"]["multicall"][1]), (&json!("4750000000"), &json!(6)), "{seen:#}");
    assert_eq!(seen["viem"]["multicall"][2], seen["viem"]["balance"], "{seen:#}");
    assert_eq!(seen["viem"]["elsewhere"].as_array().unwrap().len(), 2, "{seen:#}");
    assert_eq!(seen["viem"]["transfers"], 1);
    assert!(seen["viem"]["watched"].as_u64().unwrap() >= 1, "{seen:#}");
    served.events().await
}

fn delegations(events: &[Event]) -> (usize, usize) {
    let signed = events.iter().filter(
        |event| matches!(&event.happened, EventKind::Signed { what, .. } if matches!(**what, SignatureRequest::Authorization { .. })),
    );
    let in_effect = mined(events).iter().filter(|mined| mined.effects.iter().any(|effect| matches!(effect, Effect::Code { .. }))).count();
    (signed.count(), in_effect)
}

#[tokio::test]
async fn public_clients_wait_batch_and_delegate() {
    let here = public_clients(ChainKind::Embedded).await;
    // Three clients delegate in turn, to two different contracts.
    assert_eq!(delegations(&here), (3, 3), "{here:#?}");
    let there = public_clients(anvil()).await;
    let kinds = crate::edges::event_kinds;
    assert_eq!((delegations(&there), kinds(&there)), ((3, 3), kinds(&here)));
}

/// A batch of Multicall3 can move what the account has allowed it to; the evaluator sees the sender and the recipient.
#[tokio::test]
async fn transfers_through_multicall_are_seen() {
    let served = ServedWorld::open(ChainKind::Embedded).await;
    let usdc = served.address("USDC").await;
    let operator = served.rpc(BASE, "eth_accounts", json!([])).await[0].clone();
    let domain = json!({ "name": "USD Coin", "version": "1", "chainId": BASE, "verifyingContract": usdc });
    let field = |name: &str, kind: &str| json!({ "name": name, "type": kind });
    let typed = json!({
        "domain": domain, "primaryType": "Permit",
        "types": {
            "EIP712Domain": [field("name", "string"), field("version", "string"), field("chainId", "uint256"), field("verifyingContract", "address")],
            "Permit": [field("owner", "address"), field("spender", "address"), field("value", "uint256"), field("nonce", "uint256"), field("deadline", "uint256")],
        },
        "message": { "owner": ACCOUNT, "spender": MULTICALL3, "value": "4000000000", "nonce": 0, "deadline": "4000000000" },
    });
    let signature = served.rpc(BASE, "eth_signTypedData_v4", json!([operator, typed])).await;
    let bytes = alloy_primitives::hex::decode(signature.as_str().unwrap()).unwrap();
    let (value, deadline) = (U256::from(4_000_000_000_u64), U256::from(4_000_000_000_u64));
    let permit = Token::permit_0Call { owner_: ACCOUNT, spender: MULTICALL3, value, deadline, signature: bytes.into() };
    let pull = Token::transferFromCall { from: ACCOUNT, to: STRANGER, value };
    let call = |data: Vec<u8>| Multicall3::Call3 { target: usdc, allowFailure: false, callData: data.into() };
    let batch = Multicall3::aggregate3Call { calls: vec![call(permit.abi_encode()), call(pull.abi_encode())] };
    let data = alloy_primitives::hex::encode_prefixed(batch.abi_encode());
    let hash = served.rpc(BASE, "eth_sendTransaction", json!([{ "from": operator, "to": MULTICALL3, "data": data }])).await;
    assert_eq!(served.rpc(BASE, "eth_getTransactionReceipt", json!([hash])).await["status"], "0x1");
    let events = served.events().await;
    let mined = mined(&events)[0];
    assert_eq!(mined.to.as_ref().unwrap().name.as_deref(), Some("Multicall3"));
    let inner: Vec<&str> = mined.inner.iter().map(|inner| inner.call.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(inner, ["permit", "transferFrom"]);
    let lost = mined.effects.iter().any(|effect| {
        matches!(effect, Effect::Balance { holder, asset, before, after } if holder.own && asset == "USDC" && before == "5000000000" && after == "1000000000")
    });
    let gained = mined.effects.iter().any(|effect| {
        matches!(effect, Effect::Balance { holder, asset, after, .. } if holder.address == STRANGER.to_checksum(None) && asset == "USDC" && after == "4000000000")
    });
    assert!(lost && gained, "{:#?}", mined.effects);
}
