//! Blocks, transactions, receipts and logs of a ledger as JSON.

use alloy_consensus::Typed2718;
use alloy_primitives::{Address, B256, Bloom, BloomInput, U256, keccak256};
use serde_json::{Value, json};

use super::params::{data, quantity};
use crate::chain::{BASE_FEE, BLOCK_GAS, ChainLedger, LedgerTx, Log, Receipt, Tx, TxStatus};

/// Returns a block. The caller has checked that it exists.
pub(super) fn block(ledger: &ChainLedger, number: u64, full: bool) -> Value {
    let sent = ledger.in_block(number);
    let transactions: Vec<Value> = sent.iter().map(|sent| if full { transaction(ledger, sent) } else { json!(sent.hash) }).collect();
    let parent = number.checked_sub(1).map_or(B256::ZERO, |parent| ledger.block_hash(parent));
    json!({
        "number": quantity(number), "hash": ledger.block_hash(number), "parentHash": parent, "timestamp": quantity(ledger.block_time(number)),
        "baseFeePerGas": quantity(BASE_FEE), "gasLimit": quantity(BLOCK_GAS), "gasUsed": quantity(gas_used(ledger, number)),
        "transactions": transactions, "logsBloom": bloom(sent.iter().flat_map(|sent| &sent.receipt.logs)),
        "miner": Address::ZERO, "difficulty": "0x0", "totalDifficulty": "0x0", "extraData": "0x", "size": "0x0",
        "nonce": "0x0000000000000000", "mixHash": B256::ZERO, "sha3Uncles": B256::ZERO, "uncles": [],
        "stateRoot": B256::ZERO, "receiptsRoot": B256::ZERO, "transactionsRoot": B256::ZERO,
        "withdrawals": [], "withdrawalsRoot": B256::ZERO,
    })
}

pub(super) fn gas_used(ledger: &ChainLedger, number: u64) -> u64 {
    ledger.in_block(number).map_or(0, |sent| sent.receipt.gas_used)
}

pub(super) fn transaction(ledger: &ChainLedger, sent: &LedgerTx) -> Value {
    let mut json = match &sent.envelope {
        Some(envelope) => serde_json::to_value(envelope).unwrap_or_default(),
        None => unsigned_transaction(ledger.chain(), sent),
    };
    if let Some(fields) = json.as_object_mut() {
        let block = sent.receipt.block.number;
        fields.insert("hash".to_owned(), json!(sent.hash));
        fields.insert("from".to_owned(), json!(sent.tx.from));
        fields.insert("blockHash".to_owned(), json!(ledger.block_hash(block)));
        fields.insert("blockNumber".to_owned(), quantity(block));
        fields.insert("transactionIndex".to_owned(), quantity(0));
        fields.entry("gasPrice").or_insert_with(|| quantity(BASE_FEE));
    }
    json
}

/// Returns a transaction that no client signed. Clients require a signature; this one is derived from the hash and recovers to an
/// arbitrary address, like that of an impersonated account.
fn unsigned_transaction(chain: u64, sent: &LedgerTx) -> Value {
    let Tx { to, value, data: input, .. } = &sent.tx;
    let (r, s) = (keccak256([sent.hash.as_slice(), b"r"].concat()), keccak256([sent.hash.as_slice(), b"s"].concat()));
    let half = |word: B256| U256::from_be_bytes(word.0) >> 2;
    json!({
        "type": "0x2", "chainId": quantity(chain), "nonce": quantity(sent.nonce), "gas": quantity(sent.tx.gas_limit()),
        "maxFeePerGas": quantity(BASE_FEE), "maxPriorityFeePerGas": "0x0", "to": to, "value": value, "accessList": [], "input": input,
        "r": half(r), "s": half(s), "yParity": "0x0", "v": "0x0",
    })
}

pub(super) fn receipt(ledger: &ChainLedger, sent: &LedgerTx) -> Value {
    let Receipt { status, gas_used, logs, block, .. } = &sent.receipt;
    let succeeded = *status == TxStatus::Success;
    let created = (sent.tx.to.is_none() && succeeded).then(|| sent.tx.from.create(sent.nonce));
    let kind = sent.envelope.as_ref().map_or(2, Typed2718::ty);
    json!({
        "transactionHash": sent.hash, "transactionIndex": "0x0", "blockHash": ledger.block_hash(block.number), "blockNumber": quantity(block.number),
        "from": sent.tx.from, "to": sent.tx.to, "contractAddress": created, "status": quantity(u64::from(succeeded)),
        "type": quantity(u64::from(kind)), "gasUsed": quantity(*gas_used), "cumulativeGasUsed": quantity(*gas_used),
        "effectiveGasPrice": quantity(BASE_FEE), "logsBloom": bloom(logs),
        "logs": logs.iter().enumerate().map(|(at, log)| log_json(ledger, sent, at, log)).collect::<Vec<_>>(),
    })
}

/// Returns the logs that a filter accepts, oldest first.
pub(super) fn logs(ledger: &ChainLedger, wanted: impl Fn(u64, &Log) -> bool) -> Vec<Value> {
    let mut found = vec![];
    for sent in ledger.transactions() {
        for (at, log) in sent.receipt.logs.iter().enumerate() {
            if wanted(sent.receipt.block.number, log) {
                found.push(log_json(ledger, sent, at, log));
            }
        }
    }
    found
}

fn log_json(ledger: &ChainLedger, sent: &LedgerTx, at: usize, log: &Log) -> Value {
    let block = sent.receipt.block;
    json!({
        "address": log.address, "topics": log.topics, "data": data(&log.data), "blockNumber": quantity(block.number),
        "blockHash": ledger.block_hash(block.number), "blockTimestamp": quantity(block.unix_s), "transactionHash": sent.hash,
        "transactionIndex": "0x0", "logIndex": quantity(at as u64), "removed": false,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::BlockInfo;

    #[test]
    fn blocks_link_to_their_parents() {
        let ledger = ChainLedger::new(8453, BlockInfo { number: 5, unix_s: 1_000 });
        for number in 1..=5 {
            assert_eq!(block(&ledger, number, false)["parentHash"], block(&ledger, number - 1, true)["hash"]);
        }
        assert_eq!(block(&ledger, 3, false)["timestamp"], quantity(998));
    }
}
