//! Blocks and transactions of a chain that this endpoint has seen.

use std::collections::{BTreeMap, BTreeSet};

use alloy_consensus::{Transaction, TxEnvelope, Typed2718};
use alloy_primitives::{Address, B256, Bloom, BloomInput, keccak256};
use serde_json::{Value, json};

use super::params::{data, quantity};
use crate::chain::{BASE_FEE, BlockInfo, Log, Receipt, TxStatus};

#[derive(Debug)]
pub(super) struct ChainHistory {
    chain: u64,
    times: BTreeMap<u64, u64>,
    sent: Vec<RpcTransaction>,
    by_hash: BTreeMap<B256, usize>,
    /// Hashes of transactions whose signature is recorded.
    seen: BTreeSet<B256>,
}

/// Mined transaction that was sent through this endpoint.
#[derive(Debug)]
pub(super) struct RpcTransaction {
    pub(super) hash: B256,
    pub(super) envelope: TxEnvelope,
    pub(super) from: Address,
    pub(super) receipt: Receipt,
}

impl ChainHistory {
    pub(super) fn new(chain: u64) -> Self {
        Self { chain, times: BTreeMap::new(), sent: vec![], by_hash: BTreeMap::new(), seen: BTreeSet::new() }
    }

    pub(super) fn record_block(&mut self, block: BlockInfo) {
        self.times.insert(block.number, block.unix_s);
    }

    /// Returns true the first time.
    pub(super) fn mark_seen(&mut self, hash: B256) -> bool {
        self.seen.insert(hash)
    }

    pub(super) fn insert(&mut self, sent: RpcTransaction) {
        self.record_block(sent.receipt.block);
        self.by_hash.insert(sent.hash, self.sent.len());
        self.sent.push(sent);
    }

    pub(super) fn contains(&self, hash: B256) -> bool {
        self.by_hash.contains_key(&hash)
    }

    /// Returns a synthetic block hash. Real hashes differ between the backends; this one is the same in every run.
    pub(super) fn block_hash(&self, number: u64) -> B256 {
        keccak256([b"block".as_slice(), &self.chain.to_be_bytes(), &number.to_be_bytes()].concat())
    }

    pub(super) fn block_number_of(&self, hash: B256) -> Option<u64> {
        self.times.keys().copied().find(|number| self.block_hash(*number) == hash)
    }

    fn transactions_in(&self, block: u64) -> impl Iterator<Item = &RpcTransaction> {
        self.sent.iter().filter(move |sent| sent.receipt.block.number == block)
    }

    /// Returns a block as JSON, or null if this endpoint has not seen it and its time is unknown.
    pub(super) fn block(&self, number: u64, full: bool) -> Value {
        let Some(unix_s) = self.times.get(&number) else { return Value::Null };
        let transactions: Vec<Value> =
            self.transactions_in(number).map(|sent| if full { self.transaction_json(sent) } else { json!(sent.hash) }).collect();
        let gas_used: u64 = self.transactions_in(number).map(|sent| sent.receipt.gas_used).sum();
        let bloom = bloom(self.transactions_in(number).flat_map(|sent| &sent.receipt.logs));
        let parent = number.checked_sub(1).map_or(B256::ZERO, |parent| self.block_hash(parent));
        json!({
            "number": quantity(number), "hash": self.block_hash(number), "parentHash": parent, "timestamp": quantity(*unix_s),
            "baseFeePerGas": quantity(BASE_FEE), "gasLimit": quantity(crate::chain::BLOCK_GAS), "gasUsed": quantity(gas_used),
            "transactions": transactions, "logsBloom": bloom,
            "miner": Address::ZERO, "difficulty": "0x0", "totalDifficulty": "0x0", "extraData": "0x", "size": "0x0",
            "nonce": "0x0000000000000000", "mixHash": B256::ZERO, "sha3Uncles": B256::ZERO, "uncles": [],
            "stateRoot": B256::ZERO, "receiptsRoot": B256::ZERO, "transactionsRoot": B256::ZERO,
            "withdrawals": [], "withdrawalsRoot": B256::ZERO,
        })
    }

    pub(super) fn transaction(&self, hash: B256) -> Value {
        self.by_hash.get(&hash).map_or(Value::Null, |at| self.transaction_json(&self.sent[*at]))
    }

    fn transaction_json(&self, sent: &RpcTransaction) -> Value {
        let mut json = serde_json::to_value(&sent.envelope).unwrap_or_default();
        if let Some(fields) = json.as_object_mut() {
            let block = sent.receipt.block.number;
            fields.insert("hash".to_owned(), json!(sent.hash));
            fields.insert("from".to_owned(), json!(sent.from));
            fields.insert("blockHash".to_owned(), json!(self.block_hash(block)));
            fields.insert("blockNumber".to_owned(), quantity(block));
            fields.insert("transactionIndex".to_owned(), quantity(0));
            fields.entry("gasPrice").or_insert_with(|| quantity(BASE_FEE));
        }
        json
    }

    pub(super) fn receipt(&self, hash: B256) -> Value {
        let Some(sent) = self.by_hash.get(&hash).map(|at| &self.sent[*at]) else { return Value::Null };
        let Receipt { status, gas_used, logs, block, .. } = &sent.receipt;
        let succeeded = *status == TxStatus::Success;
        let to = sent.envelope.to();
        let created = (to.is_none() && succeeded).then(|| sent.from.create(sent.envelope.nonce()));
        json!({
            "transactionHash": hash, "transactionIndex": "0x0", "blockHash": self.block_hash(block.number), "blockNumber": quantity(block.number),
            "from": sent.from, "to": to, "contractAddress": created, "status": quantity(u64::from(succeeded)),
            "type": quantity(u64::from(sent.envelope.ty())), "gasUsed": quantity(*gas_used), "cumulativeGasUsed": quantity(*gas_used),
            "effectiveGasPrice": quantity(BASE_FEE), "logsBloom": bloom(logs), "logs": self.logs_of(sent).collect::<Vec<_>>(),
        })
    }

    fn logs_of<'s>(&'s self, sent: &'s RpcTransaction) -> impl Iterator<Item = Value> {
        sent.receipt.logs.iter().enumerate().map(|(at, log)| self.log_json(sent, at, log))
    }

    fn log_json(&self, sent: &RpcTransaction, at: usize, log: &Log) -> Value {
        let block = sent.receipt.block;
        json!({
            "address": log.address, "topics": log.topics, "data": data(&log.data), "blockNumber": quantity(block.number),
            "blockHash": self.block_hash(block.number), "blockTimestamp": quantity(block.unix_s), "transactionHash": sent.hash,
            "transactionIndex": "0x0", "logIndex": quantity(at as u64), "removed": false,
        })
    }

    pub(super) fn logs(&self, wanted: impl Fn(u64, &Log) -> bool) -> Vec<Value> {
        let mut found = vec![];
        for sent in &self.sent {
            for (at, log) in sent.receipt.logs.iter().enumerate() {
                if wanted(sent.receipt.block.number, log) {
                    found.push(self.log_json(sent, at, log));
                }
            }
        }
        found
    }
}

fn bloom<'l>(logs: impl IntoIterator<Item = &'l Log>) -> Bloom {
    let mut bloom = Bloom::ZERO;
    for log in logs {
        bloom.accrue(BloomInput::Raw(log.address.as_slice()));
        for topic in &log.topics {
            bloom.accrue(BloomInput::Raw(topic.as_slice()));
        }
    }
    bloom
}
