//! Sends a transaction to Anvil, mines it in its own block, and reads the receipt and state changes from traces.

use super::convert::{self, BlockReply, CallFrame, PrestateDiff, ReceiptReply, hex_quantity};
use super::{Anvil, BLOCK_GAS};
use crate::chain::{AccessedState, BASE_FEE, BlockInfo, CallOutcome, ChainError, Receipt, StateChanges, Tx, TxStatus};
use alloy_primitives::{B256, Bytes, U64, U256};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Interval between receipt requests: a receipt may be available later than its block.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const MAX_INITCODE_BYTES: usize = 49_152;

pub(super) async fn send(anvil: &mut Anvil, tx: &Tx) -> Result<Receipt, ChainError> {
    check_includable(tx)?;
    let (block, nonce) = prepare(anvil, tx).await?;
    let block_settings = [
        ("anvil_setNextBlockBaseFeePerGas", json!([hex_quantity(BASE_FEE)])),
        ("evm_setNextBlockTimestamp", json!([hex_quantity(block.unix_s)])),
    ];
    anvil.rpc.request_batch(block_settings).await?;
    let hash: B256 = anvil.request_as("eth_sendTransaction", json!([convert::transaction_json(tx, nonce, anvil.id)])).await?;
    anvil.rpc.request("evm_mine", json!([])).await?;
    let limit = anvil.rpc.timeout();
    let receipt = tokio::time::timeout(limit, wait_for_receipt(anvil, block, hash)).await;
    let receipt = receipt.map_err(|_| anvil.rpc.fault("eth_getTransactionReceipt", format_args!("no receipt within {limit:?}")))??;
    anvil.next_time = None;
    if !receipt.is_in(block) {
        return Err(anvil.rpc.fault("eth_getTransactionReceipt", "mined in an unexpected block: another client uses this node"));
    }
    build_receipt(anvil, block, hash, receipt).await
}

/// Returns the block and nonce of a transaction. Checks the nonce, because one that is too high would stay in the pool forever.
async fn prepare(anvil: &mut Anvil, tx: &Tx) -> Result<(BlockInfo, u64), ChainError> {
    let requests = [("eth_getBlockByNumber", json!(["latest", false])), ("eth_getTransactionCount", json!([tx.from, "latest"]))];
    let [latest, nonce] = anvil.rpc.request_batch(requests).await?;
    let latest: BlockReply = anvil.parse_reply("eth_getBlockByNumber", latest)?;
    let [_, block] = anvil.latest_and_next(latest.block());
    let expected: u64 = anvil.parse_reply::<U64>("eth_getTransactionCount", nonce)?.to();
    match tx.nonce {
        Some(given) if given != expected => {
            let side = if given < expected { "low" } else { "high" };
            Err(ChainError::Refused(format!("nonce {given} too {side}, expected {expected}")))
        }
        Some(_) | None => Ok((block, expected)),
    }
}

/// Rejects transactions that the pool accepts but no block can include. On a new fork the empty block could not be rolled back.
fn check_includable(tx: &Tx) -> Result<(), ChainError> {
    let min_gas = intrinsic_gas(tx);
    if tx.gas_limit() < min_gas {
        return Err(ChainError::Refused(format!("gas limit {} is below the intrinsic gas of {min_gas}", tx.gas_limit())));
    }
    if tx.to.is_none() && tx.data.len() > MAX_INITCODE_BYTES {
        return Err(ChainError::Refused(format!("a contract creation takes at most {MAX_INITCODE_BYTES} bytes (EIP-3860)")));
    }
    if tx.to.is_none() && !tx.authorizations.is_empty() {
        return Err(ChainError::Refused("a contract creation cannot carry authorizations (EIP-7702)".to_owned()));
    }
    Ok(())
}

/// Returns the gas due before execution: calldata, creation and authorizations, or the floor of EIP-7623.
fn intrinsic_gas(tx: &Tx) -> u64 {
    let (length, zeros) = (tx.data.len() as u64, tx.data.iter().filter(|byte| **byte == 0).count() as u64);
    let tokens = 4 * length - 3 * zeros;
    let creation = if tx.to.is_none() { 32_000 + 2 * length.div_ceil(32) } else { 0 };
    21_000 + (4 * tokens + creation + 25_000 * tx.authorizations.len() as u64).max(10 * tokens)
}

async fn wait_for_receipt(anvil: &mut Anvil, block: BlockInfo, hash: B256) -> Result<ReceiptReply, ChainError> {
    loop {
        let requests = [("eth_getTransactionReceipt", json!([hash])), ("eth_getBlockByNumber", json!([hex_quantity(block.number), false]))];
        let [receipt, mined] = anvil.rpc.request_batch(requests).await?;
        if !receipt.is_null() {
            return anvil.parse_reply("eth_getTransactionReceipt", receipt);
        }
        let mined: Option<BlockReply> = anvil.parse_reply("eth_getBlockByNumber", mined)?;
        if mined.is_some_and(|mined| !mined.transactions.contains(&hash)) {
            return Err(drop_excluded_tx(anvil).await?);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Removes a transaction that the pool accepted but the block did not include, and rolls the empty block back.
async fn drop_excluded_tx(anvil: &mut Anvil) -> Result<ChainError, ChainError> {
    anvil.rpc.request("anvil_dropAllTransactions", json!([])).await?;
    anvil.rpc.request("anvil_rollback", json!([1])).await?;
    Ok(ChainError::Refused("the node accepted the transaction but did not include it in its block".to_owned()))
}

async fn build_receipt(anvil: &mut Anvil, block: BlockInfo, hash: B256, receipt: ReceiptReply) -> Result<Receipt, ChainError> {
    let requests = [("debug_traceTransaction", json!([hash, call_tracer()])), ("debug_traceTransaction", json!([hash, diff_tracer()]))];
    let [frame, diff] = anvil.rpc.request_batch(requests).await?;
    let frame: CallFrame = anvil.parse_reply("debug_traceTransaction", frame)?;
    let diff: PrestateDiff = anvil.parse_reply("debug_traceTransaction", diff)?;
    let CallOutcome { status, output, .. } = frame.outcome();
    if receipt.succeeded() != (status == TxStatus::Success) {
        return Err(anvil.rpc.fault("debug_traceTransaction", "trace and receipt disagree about success"));
    }
    let changes = state_changes(anvil, &diff).await?;
    Ok(Receipt { status, gas_used: receipt.gas_used(), output, logs: receipt.logs(), block, changes })
}

async fn state_changes(anvil: &mut Anvil, diff: &PrestateDiff) -> Result<StateChanges, ChainError> {
    let mut codes = BTreeMap::new();
    for at in diff.unknown_code_addresses() {
        let code: Bytes = anvil.request_as("eth_getCode", json!([at, "latest"])).await?;
        codes.insert(at, code);
    }
    Ok(diff.changes(&codes))
}

/// Runs a call with `debug_traceCall`, because `eth_call` returns neither the gas used nor the kind of failure.
pub(super) async fn call(anvil: &mut Anvil, tx: &Tx) -> Result<CallOutcome, ChainError> {
    let frame = trace_call(anvil, tx, call_tracer()).await?;
    Ok(anvil.parse_reply::<CallFrame>("debug_traceCall", frame)?.outcome())
}

pub(super) async fn accessed(anvil: &mut Anvil, tx: &Tx) -> Result<AccessedState, ChainError> {
    let touched = trace_call(anvil, tx, json!({"tracer": "prestateTracer"})).await?;
    convert::accessed_state(touched).map_err(|error| anvil.rpc.fault("debug_traceCall", error))
}

async fn trace_call(anvil: &mut Anvil, tx: &Tx, mut options: Value) -> Result<Value, ChainError> {
    if tx.gas_limit() > BLOCK_GAS {
        return Err(ChainError::Refused(format!("gas limit {} exceeds the block gas limit of {BLOCK_GAS}", tx.gas_limit())));
    }
    let requests = [("eth_getBlockByNumber", json!(["latest", false])), ("eth_getBalance", json!([tx.from, "latest"]))];
    let [latest, balance] = anvil.rpc.request_batch(requests).await?;
    let latest: BlockReply = anvil.parse_reply("eth_getBlockByNumber", latest)?;
    let [_, block] = anvil.latest_and_next(latest.block());
    options["blockOverrides"] = json!({"number": hex_quantity(block.number), "time": hex_quantity(block.unix_s), "baseFee": hex_quantity(BASE_FEE), "random": B256::ZERO});
    if anvil.parse_reply::<U256>("eth_getBalance", balance)? < tx.value {
        options["stateOverrides"] = json!({tx.from.to_string(): {"balance": tx.value}});
    }
    anvil.rpc.request("debug_traceCall", json!([convert::call_json(tx), "latest", options])).await
}

/// Tracer without inner calls: they are not used, and a thousand of them would exceed the nesting limit of the JSON parser.
fn call_tracer() -> Value {
    json!({"tracer": "callTracer", "tracerConfig": {"onlyTopCall": true}})
}

fn diff_tracer() -> Value {
    json!({"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}})
}
