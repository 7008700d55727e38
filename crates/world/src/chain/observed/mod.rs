//! Transactions of real chains, read from a node of the operator. The node may answer slowly, wrongly or not at all: everything that it
//! says is bounded and checked, and a transaction must hash and recover to what it claims to be.

mod book;
mod reply;
mod source;
mod token_logs;

pub use book::registry_book;

use super::anvil::convert::{CallFrame, MAX_UNIX_S, PrestateDiff, hex_quantity};
use super::anvil::node_client::{NodeClient, printable_excerpt};
use super::{AccountChange, AddressBook, BlockInfo, ChainError, Receipt, StateChanges, Tx, TxStatus, decode_mined};
use alloy_primitives::{Address, B256, Bytes, U64, U256, hex, keccak256};
use model::transcript::{Effect, MinedTransaction};
use reply::{ReceiptFields, RecoveredTransaction};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use source::NodeSource;
use std::collections::BTreeMap;
use std::time::Duration;

/// Own addresses whose balances are asked for if the node has no traces.
const MAX_BALANCES: usize = 8;

/// Transaction of a real chain, decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedTransaction {
    pub mined: MinedTransaction,
    /// As in [`calldata_hash`], to be compared with what was approved.
    pub calldata_hash: String,
    pub block: u64,
    /// Seconds since 1970.
    pub unix_s: u64,
}

/// Reason why a transaction was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadFailure {
    /// Another attempt may succeed.
    #[error("{0}")]
    Later(String),
    /// Answer of the node that cannot be true.
    #[error("{0}")]
    Wrong(String),
}

impl From<ChainError> for ReadFailure {
    fn from(error: ChainError) -> Self {
        ReadFailure::Later(error.to_string())
    }
}

/// Returns the hash that an approval names: of the chain, the called contract and the calldata.
pub fn calldata_hash(chain: u64, to: Address, data: &[u8]) -> String {
    hex::encode_prefixed(keccak256([chain.to_be_bytes().as_slice(), to.as_slice(), data].concat()))
}

/// Reads transactions of one chain.
#[derive(Debug)]
pub struct ChainReader {
    book: AddressBook,
    rpc: NodeSource,
    is_chain_checked: bool,
}

impl ChainReader {
    /// # Errors
    ///
    /// Fails if the URL is not one of HTTP.
    pub fn new(book: AddressBook, url: &str, timeout: Duration) -> Result<Self, ChainError> {
        Ok(Self { book, rpc: NodeSource::Http(NodeClient::new(url, timeout)?), is_chain_checked: false })
    }

    /// Returns a reader whose node answers with these bodies, one after another. For tests and fuzzers.
    pub fn with_replies(book: AddressBook, bodies: Vec<Vec<u8>>) -> Self {
        Self { book, rpc: NodeSource::recorded(bodies), is_chain_checked: false }
    }

    /// Reads and decodes a transaction by its hash.
    ///
    /// # Errors
    ///
    /// Fails if the node cannot be asked, does not know it, serves another chain, or contradicts itself.
    pub async fn read(&mut self, hash: B256) -> Result<ObservedTransaction, ReadFailure> {
        self.check_chain().await?;
        let written = self.rpc.request("eth_getTransactionByHash", json!([hash])).await?;
        let signed = RecoveredTransaction::parse(written, hash, self.book.chain)?;
        let written = self.rpc.request("eth_getTransactionReceipt", json!([hash])).await?;
        let receipt = ReceiptFields::parse(written, hash, &signed)?;
        token_logs::check_transfer(&self.book, &signed.tx, &receipt)?;
        let unix_s = self.block_time(hash, &receipt).await?;
        let (changes, output) = self.changes(hash, &signed, &receipt).await?;
        let status = if receipt.succeeded { TxStatus::Success } else { TxStatus::Reverted };
        let block = BlockInfo { number: receipt.block, unix_s };
        let receipt = Receipt { status, gas_used: receipt.gas_used, output, logs: receipt.logs, block, changes };
        let mut mined = decode_mined(&self.book, &signed.tx, signed.nonce, &receipt);
        add_token_effects(&self.book, &signed.tx, &mut mined, &receipt);
        let to = signed.tx.to.unwrap_or_default();
        Ok(ObservedTransaction { mined, calldata_hash: calldata_hash(self.book.chain, to, &signed.tx.data), block: block.number, unix_s })
    }

    /// Asks once which chain the node serves.
    async fn check_chain(&mut self) -> Result<(), ReadFailure> {
        if self.is_chain_checked {
            return Ok(());
        }
        let said = self.rpc.request("eth_chainId", json!([])).await?;
        let id: U64 = parse("eth_chainId", said)?;
        if id.to::<u64>() != self.book.chain {
            return Err(ReadFailure::Later(format!("the node serves chain {id}, not {}", self.book.chain)));
        }
        self.is_chain_checked = true;
        Ok(())
    }

    /// Returns the time of the block, which must still be part of the chain and list the transaction.
    async fn block_time(&mut self, hash: B256, receipt: &ReceiptFields) -> Result<u64, ReadFailure> {
        let written = self.rpc.request("eth_getBlockByNumber", json!([hex_quantity(receipt.block), false])).await?;
        #[derive(Deserialize)]
        struct BlockFields {
            hash: B256,
            number: U64,
            timestamp: U64,
            transactions: Vec<B256>,
        }
        let block: Option<BlockFields> = parse("eth_getBlockByNumber", written)?;
        let block = block.ok_or_else(|| ReadFailure::Later("the node does not have its block".into()))?;
        if block.hash != receipt.block_hash {
            return Err(ReadFailure::Later("its block is no longer part of the chain".into()));
        }
        if block.number != U64::from(receipt.block) || !block.transactions.contains(&hash) {
            return Err(ReadFailure::Wrong("its block is another one, or does not list it".into()));
        }
        let unix_s = block.timestamp.to();
        if unix_s > MAX_UNIX_S { Err(ReadFailure::Wrong("its block has an impossible time".into())) } else { Ok(unix_s) }
    }

    /// Returns the changes of state and the revert data: by a trace if the node has them, else by the balances of own addresses.
    async fn changes(
        &mut self,
        hash: B256,
        signed: &RecoveredTransaction,
        receipt: &ReceiptFields,
    ) -> Result<(StateChanges, Bytes), ReadFailure> {
        let diff = json!([hash, { "tracer": "prestateTracer", "tracerConfig": { "diffMode": true } }]);
        let Ok(diff) = self.rpc.request("debug_traceTransaction", diff).await else {
            return Ok((self.own_balances(signed, receipt).await?, Bytes::new()));
        };
        let diff: PrestateDiff = parse("debug_traceTransaction", diff)?;
        if diff.nonce_after(signed.tx.from).is_none_or(|nonce| nonce <= signed.nonce) {
            return Err(ReadFailure::Wrong("its trace is that of another transaction: the sender's nonce did not change".into()));
        }
        let mut codes = BTreeMap::new();
        for at in diff.unknown_code_addresses().into_iter().take(MAX_BALANCES) {
            let code = self.rpc.request("eth_getCode", json!([at, hex_quantity(receipt.block)])).await?;
            codes.insert(at, parse("eth_getCode", code)?);
        }
        let mut output = Bytes::new();
        if !receipt.succeeded {
            let call = json!([hash, { "tracer": "callTracer", "tracerConfig": { "onlyTopCall": true } }]);
            let frame: CallFrame = parse("debug_traceTransaction", self.rpc.request("debug_traceTransaction", call).await?)?;
            let outcome = frame.outcome();
            if outcome.status == TxStatus::Success {
                return Err(ReadFailure::Wrong("trace and receipt disagree about success".into()));
            }
            output = outcome.output;
        }
        Ok((diff.changes(&codes), output))
    }

    /// Returns what own addresses gained or lost of the native coin, without the fee. What they lost is taken to be the gain of the
    /// called contract, so that it counts as spent.
    async fn own_balances(&mut self, signed: &RecoveredTransaction, receipt: &ReceiptFields) -> Result<StateChanges, ReadFailure> {
        let own: Vec<Address> = self.book.own_addresses().iter().copied().take(MAX_BALANCES).collect();
        let mut changes = StateChanges::default();
        let mut lost = U256::ZERO;
        for at in own {
            let mut before = self.balance(at, receipt.block.saturating_sub(1)).await?;
            let mut after = self.balance(at, receipt.block).await?;
            if at == signed.tx.from {
                after = after.saturating_add(receipt.fee);
            }
            // The signature proves what was sent, even if the balances of the block hide it.
            if at == signed.tx.from && receipt.succeeded && signed.tx.to != Some(at) && before.saturating_sub(after) < signed.tx.value {
                (before, after) = (before.max(signed.tx.value), before.max(signed.tx.value) - signed.tx.value);
            }
            lost = lost.saturating_add(before.saturating_sub(after));
            if before != after {
                changes.accounts.insert(at, AccountChange { balance: Some((before, after)), ..AccountChange::default() });
            }
        }
        let to = signed.tx.to.filter(|to| !self.book.own_addresses().contains(to)).unwrap_or_default();
        if !lost.is_zero() {
            changes.accounts.insert(to, AccountChange { balance: Some((U256::ZERO, lost)), ..AccountChange::default() });
        }
        Ok(changes)
    }

    async fn balance(&mut self, of: Address, block: u64) -> Result<U256, ReadFailure> {
        let said = self.rpc.request("eth_getBalance", json!([of, hex_quantity(block)])).await?;
        parse("eth_getBalance", said)
    }
}

fn parse<T: serde::de::DeserializeOwned>(method: &str, value: Value) -> Result<T, ReadFailure> {
    let brief = |error: serde_json::Error| printable_excerpt(&error.to_string(), 200);
    serde_json::from_value(value).map_err(|error| ReadFailure::Wrong(format!("the reply to {method} cannot be read: {}", brief(error))))
}

/// Adds the changes of tokens that logs tell. The layout of foreign contracts is unknown, so that their storage tells nothing.
fn add_token_effects(book: &AddressBook, tx: &Tx, mined: &mut MinedTransaction, receipt: &Receipt) {
    mined.effects.retain(|effect| !matches!(effect, Effect::Unexplained { .. }));
    let mut effects = token_logs::token_effects(book, &receipt.logs);
    token_logs::raise_to_signed(book, tx, receipt.status == TxStatus::Success, &mut effects);
    mined.effects.extend(effects);
    mined.effects.sort();
}

/// Returns the transaction as the world sees it.
fn unsigned(from: Address, to: Option<Address>, value: U256, data: Bytes) -> Tx {
    Tx { from, to, value, data, ..Tx::default() }
}
