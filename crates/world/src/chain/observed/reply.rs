//! Transactions and receipts as a node writes them, checked against each other.

use super::ReadFailure;
use crate::chain::{Log, Tx};
use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{Transaction, TxEnvelope};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, U64, U128, U256, keccak256};
use serde::Deserialize;
use serde_json::Value;

/// Most logs of a transaction, which its gas bounds far below.
const MAX_LOGS: usize = 10_000;

/// Transaction whose hash and sender were recomputed from its signature.
pub(super) struct RecoveredTransaction {
    pub(super) tx: Tx,
    pub(super) nonce: u64,
    gas_limit: u64,
    max_gas_price: u128,
    block_hash: B256,
}

impl RecoveredTransaction {
    pub(super) fn parse(written: Value, hash: B256, chain: u64) -> Result<Self, ReadFailure> {
        if written.is_null() {
            return Err(ReadFailure::Later("the node does not know the transaction".into()));
        }
        let Some(block_hash) = written.get("blockHash").and_then(Value::as_str).and_then(|text| text.parse().ok()) else {
            return Err(ReadFailure::Later("it is not in a block yet".into()));
        };
        let wrong = |what: &str| ReadFailure::Wrong(what.to_owned());
        let envelope: TxEnvelope =
            serde_json::from_value(written).map_err(|_| wrong("the node describes it in a way that cannot be read"))?;
        // A node cannot make up a transaction: the hash stands for the contents and the signature for the sender.
        if keccak256(envelope.encoded_2718()) != hash {
            return Err(wrong("the node describes another transaction than the hash stands for"));
        }
        let from = envelope.recover_signer().map_err(|_| wrong("its signature recovers to no sender"))?;
        if envelope.chain_id().is_some_and(|id| id != chain) {
            return Err(wrong("it is for another chain"));
        }
        let mut tx = super::unsigned(from, envelope.to(), envelope.value(), envelope.input().clone());
        tx.authorizations = envelope.authorization_list().map(<[_]>::to_vec).unwrap_or_default();
        let (nonce, gas_limit, max_gas_price) = (envelope.nonce(), envelope.gas_limit(), envelope.max_fee_per_gas());
        Ok(Self { tx, nonce, gas_limit, max_gas_price, block_hash })
    }
}

/// Receipt that belongs to a transaction.
pub(super) struct ReceiptFields {
    pub(super) succeeded: bool,
    pub(super) gas_used: u64,
    /// Fee in wei, with the part of the base chain if there is one.
    pub(super) fee: U256,
    pub(super) block: u64,
    pub(super) block_hash: B256,
    pub(super) logs: Vec<Log>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeReceipt {
    transaction_hash: B256,
    block_hash: B256,
    block_number: U64,
    from: Address,
    to: Option<Address>,
    status: U64,
    gas_used: U64,
    effective_gas_price: U128,
    #[serde(default)]
    l1_fee: Option<U256>,
    logs: Vec<NodeLog>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeLog {
    address: Address,
    topics: Vec<B256>,
    data: Bytes,
    transaction_hash: B256,
    #[serde(default)]
    removed: bool,
}

impl ReceiptFields {
    pub(super) fn parse(written: Value, hash: B256, signed: &RecoveredTransaction) -> Result<Self, ReadFailure> {
        if written.is_null() {
            return Err(ReadFailure::Later("the node has no receipt of it".into()));
        }
        let wrong = |what: &str| ReadFailure::Wrong(what.to_owned());
        let reply: NodeReceipt = serde_json::from_value(written).map_err(|_| wrong("its receipt cannot be read"))?;
        if reply.transaction_hash != hash || reply.from != signed.tx.from || reply.to != signed.tx.to {
            return Err(wrong("the receipt is that of another transaction"));
        }
        if reply.status > U64::from(1) {
            return Err(wrong("its receipt has an unknown status"));
        }
        if reply.status.is_zero() && !reply.logs.is_empty() {
            return Err(wrong("its receipt says that it failed and has logs"));
        }
        if reply.gas_used > U64::from(signed.gas_limit) || reply.effective_gas_price > U128::from(signed.max_gas_price) {
            return Err(wrong("its receipt has more gas than the transaction allows"));
        }
        if reply.block_hash != signed.block_hash {
            return Err(ReadFailure::Later("receipt and transaction are in different blocks".into()));
        }
        if reply.logs.len() > MAX_LOGS || reply.logs.iter().any(|log| log.topics.len() > 4) {
            return Err(wrong("its receipt has impossible logs"));
        }
        if reply.logs.iter().any(|log| log.transaction_hash != hash) {
            return Err(wrong("its receipt has logs of another transaction"));
        }
        if reply.logs.iter().any(|log| log.removed) {
            return Err(ReadFailure::Later("its logs were removed from the chain".into()));
        }
        let fee = U256::from(reply.effective_gas_price).saturating_mul(U256::from(reply.gas_used));
        let logs = reply.logs.into_iter().map(|log| Log { address: log.address, topics: log.topics, data: log.data });
        Ok(Self {
            succeeded: reply.status == U64::from(1),
            gas_used: reply.gas_used.to(),
            fee: fee.saturating_add(reply.l1_fee.unwrap_or_default()),
            block: reply.block_number.to(),
            block_hash: reply.block_hash,
            logs: logs.collect(),
        })
    }
}
