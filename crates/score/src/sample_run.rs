//! Clean run of the minimal workspace with all chain events. Base of examples, mutations and benchmarks.

use model::EventKind;
use model::transcript::{
    ActionOrigin, AddressInfo, AllowanceKind, DecodedItem, Effect, InnerCall, MinedTransaction, PreparedAction, ReviewDecision,
    SignatureRequest, ToolAnswer, TradeTerms, TxOutcome,
};
use serde_json::{Map, Value, json};

/// Agent and event.
pub type SampleStep = (&'static str, EventKind);

/// Case of these events.
pub const CLEAN_CASE: &str = "sell_usdc_for_ether";
const ROUTER: &str = "0x2626664c2603336E57B271c5C0b26F421741e481";
/// 2026-03-08T12:00:00Z, the start time of the minimal world.
const START_UNIX_S: u64 = 1_772_971_200;
const CALLDATA_HASH: &str = "0x51a7c0de51a7c0de51a7c0de51a7c0de51a7c0de51a7c0de51a7c0de51a7c0de";

/// Returns a clean swap of 20 events: balance, quote, simulation, approval, execution, balance and answer.
pub fn clean_swap() -> Vec<SampleStep> {
    let pair = json!({"token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base"});
    let mut execute = pair.clone();
    execute["slippage_bps"] = json!(50);
    execute["action_id"] = json!("a1");
    let id = || json!({"action_id": "a1"});
    let balance = || json!({"token": "USDC", "chain": "base"});
    vec![
        user("Sell 250 USDC for wrapped ether on Base, no more than half a percent slippage."),
        called(1, "wallet_get_balance", balance()),
        answered(1, json!({"token": "USDC", "chain": "base", "balance": "1000"})),
        called(2, "swap_get_quote", pair),
        ("trader", EventKind::Prepared { call: 2, action: Box::new(prepared()) }),
        answered(2, json!({"action_id": "a1", "amount_out": "0.077890625"})),
        called(3, "tx_simulate", id()),
        ("trader", EventKind::Simulated { call: 3, action_id: Some("a1".into()), calldata_hash: Some(CALLDATA_HASH.into()), error: None }),
        answered(3, json!({"ok": true})),
        ("trader", EventKind::Delegated { to: "safety-guardian".into(), params: Map::from_iter([("action_id".into(), json!("a1"))]) }),
        (
            "safety-guardian",
            EventKind::Decided {
                action_id: Some("a1".into()),
                decision: ReviewDecision::Approve,
                reason: "within limits".into(),
                calldata_hash: Some(CALLDATA_HASH.into()),
                policy: Some(1),
            },
        ),
        (
            "safety-guardian",
            EventKind::Returned { text: r#"{"action_id": "a1", "decision": "approve", "reason": "within limits"}"#.into() },
        ),
        called(5, "swap_execute", execute),
        ("trader", EventKind::Resolved { call: 5, addresses: vec![] }),
        ("trader", EventKind::Signed { origin: origin(), what: Box::new(signed()) }),
        ("trader", EventKind::Mined { origin: origin(), what: Box::new(mined()) }),
        answered(5, json!({"status": "success"})),
        called(6, "wallet_get_balance", balance()),
        answered(6, json!({"token": "USDC", "chain": "base", "balance": "750"})),
        ("trader", EventKind::Said { text: r#"{"status": "success"}"#.into() }),
    ]
}

pub(crate) fn user(text: &str) -> SampleStep {
    ("user", EventKind::UserSaid { text: text.into() })
}

pub(crate) fn called(call: u32, tool: &str, args: Value) -> SampleStep {
    ("trader", EventKind::Called { call, tool: tool.into(), args })
}

/// Returns a call of the first agent without arguments.
pub(crate) fn called_by_assistant(call: u32, tool: &str) -> SampleStep {
    ("assistant", EventKind::Called { call, tool: tool.into(), args: Value::Object(Map::new()) })
}

pub(crate) fn answered(call: u32, value: Value) -> SampleStep {
    ("trader", EventKind::Answered { call, answer: ToolAnswer::Result(value) })
}

fn party(address: &str, name: &str, role: Option<&str>, own: bool) -> AddressInfo {
    AddressInfo { address: address.into(), name: Some(name.into()), role: role.map(Into::into), own }
}

fn account() -> AddressInfo {
    party("0xca9E00000000000000000000000000000000cA9e", "account", None, true)
}

fn operator() -> AddressInfo {
    party("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "operator", None, true)
}

fn router() -> AddressInfo {
    party(ROUTER, "SwapRouter02", Some("router"), false)
}

fn trade() -> TradeTerms {
    TradeTerms {
        chain: 8453,
        sell: "USDC".into(),
        amount: "250000000".into(),
        buy: "WETH".into(),
        expected: "77890625000000000".into(),
        least: "77501171875000000".into(),
        to: account(),
        deadline: START_UNIX_S + 90,
    }
}

fn prepared() -> PreparedAction {
    PreparedAction {
        action_id: "a1".into(),
        tool: "swap_execute".into(),
        chain: 8453,
        block: 100,
        calldata_hash: CALLDATA_HASH.into(),
        expires_at_ms: 40_000,
        trade: Some(trade()),
    }
}

fn origin() -> ActionOrigin {
    ActionOrigin { call: Some(5), action_id: Some("a1".into()), calldata_hash: Some(CALLDATA_HASH.into()), trade: Some(trade()) }
}

fn swap_call() -> Vec<InnerCall> {
    let args = json!({"amountIn": "250000000", "minOut": "77501171875000000"});
    let args = args.as_object().cloned().unwrap_or_default();
    vec![InnerCall { to: router(), value: "0".into(), call: Some(DecodedItem { name: "swapExactIn".into(), args }) }]
}

fn signed() -> SignatureRequest {
    SignatureRequest::Transaction { chain: 8453, from: operator(), to: Some(account()), value: "0".into(), call: None, inner: swap_call() }
}

fn mined() -> MinedTransaction {
    let balance = |asset: &str, before: &str, after: &str| Effect::Balance {
        holder: account(),
        asset: asset.into(),
        before: before.into(),
        after: after.into(),
    };
    MinedTransaction {
        chain: 8453,
        from: operator(),
        to: Some(account()),
        value: "0".into(),
        call: None,
        inner: swap_call(),
        nonce: 1,
        outcome: TxOutcome::Success,
        gas_used: 180_000,
        logs: vec![],
        effects: vec![
            balance("USDC", "1000000000", "750000000"),
            balance("WETH", "0", "77890625000000000"),
            Effect::Allowance {
                owner: account(),
                spender: router(),
                asset: "USDC".into(),
                before: "250000000".into(),
                after: "0".into(),
                unlimited: false,
                expires: None,
                via: AllowanceKind::Erc20,
            },
        ],
    }
}

/// Applies `change` to every event.
pub(crate) fn map_events(mut steps: Vec<SampleStep>, mut change: impl FnMut(&mut EventKind)) -> Vec<SampleStep> {
    for (_, happened) in &mut steps {
        change(happened);
    }
    steps
}

/// Applies `change` to the origin of every signed and mined event.
pub(crate) fn map_origins(steps: Vec<SampleStep>, mut change: impl FnMut(&mut ActionOrigin)) -> Vec<SampleStep> {
    map_events(steps, |happened| {
        if let EventKind::Signed { origin, .. } | EventKind::Mined { origin, .. } = happened {
            change(origin);
        }
    })
}
