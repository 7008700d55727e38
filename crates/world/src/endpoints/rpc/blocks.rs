//! RPC methods for blocks, transactions and fees.

use alloy_primitives::B256;
use serde_json::{Value, json};

use super::RpcContext;
use super::error::RpcError;
use super::ledger_json;
use super::params::{BlockSelector, RpcParams, quantity};
use crate::chain::{BASE_FEE, BLOCK_GAS, BlockInfo, ChainBackend, ChainLedger};

/// Maximum number of blocks in a fee history, as in real nodes.
const MAX_FEE_HISTORY_BLOCKS: u64 = 1024;
const PERCENTILES: usize = 100;

impl RpcContext<'_> {
    pub(super) async fn chain(&mut self) -> Result<&mut dyn ChainBackend, RpcError> {
        Ok(self.world.chain(self.chain).await?)
    }

    pub(super) async fn ledger(&mut self) -> Result<&ChainLedger, RpcError> {
        Ok(self.world.ledger(self.chain).await?)
    }

    pub(super) async fn latest(&mut self) -> Result<BlockInfo, RpcError> {
        Ok(self.chain().await?.latest().await?)
    }

    /// Returns the number of a selected block, or `None` if there is no such block.
    async fn select_block(&mut self, at: BlockSelector) -> Result<Option<u64>, RpcError> {
        let head = self.latest().await?.number;
        match at {
            BlockSelector::Latest => Ok(Some(head)),
            BlockSelector::Earliest => Ok(Some(0)),
            BlockSelector::Number(number) => Ok((number <= head).then_some(number)),
            BlockSelector::Hash(hash) => self.known_block(hash).await,
        }
    }

    /// Fails if the state of the selected block is not the present one. Older state is not kept, and the present one would be a wrong
    /// answer.
    pub(super) async fn require_latest_block(&mut self, value: Option<&Value>) -> Result<(), RpcError> {
        let at = BlockSelector::read(value)?;
        let number = self.select_block(at).await?.ok_or_else(|| RpcError::refused("header not found"))?;
        let since = self.ledger().await?.state_since();
        if number >= since {
            return Ok(());
        }
        let latest = self.latest().await?.number;
        Err(RpcError::refused(format!("only the state of the latest block, {latest}, is available (unchanged since block {since})")))
    }

    pub(super) async fn block_number(&mut self) -> Result<Value, RpcError> {
        Ok(quantity(self.latest().await?.number))
    }

    pub(super) async fn block_by_number(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let at = BlockSelector::read(params.get(0))?;
        self.block(at, params.flag(1)).await
    }

    pub(super) async fn block_by_hash(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        self.block(BlockSelector::Hash(params.hash(0)?), params.flag(1)).await
    }

    async fn block(&mut self, at: BlockSelector, full: bool) -> Result<Value, RpcError> {
        let Some(number) = self.select_block(at).await? else { return Ok(Value::Null) };
        Ok(ledger_json::block(self.ledger().await?, number, full))
    }

    pub(super) async fn transaction_count_of_block(&mut self, at: BlockSelector) -> Result<Value, RpcError> {
        let Some(number) = self.select_block(at).await? else { return Ok(Value::Null) };
        Ok(quantity(u64::from(self.ledger().await?.in_block(number).is_some())))
    }

    pub(super) async fn uncle_count(&mut self, at: BlockSelector) -> Result<Value, RpcError> {
        Ok(self.select_block(at).await?.map_or(Value::Null, |_| quantity(0)))
    }

    pub(super) async fn transaction_at(&mut self, at: BlockSelector, index: u64) -> Result<Value, RpcError> {
        let Some(number) = self.select_block(at).await? else { return Ok(Value::Null) };
        let ledger = self.ledger().await?;
        Ok(ledger.in_block(number).filter(|_| index == 0).map_or(Value::Null, |sent| ledger_json::transaction(ledger, sent)))
    }

    pub(super) async fn transaction_by_hash(&mut self, hash: B256) -> Result<Value, RpcError> {
        let ledger = self.ledger().await?;
        Ok(ledger.by_hash(hash).map_or(Value::Null, |sent| ledger_json::transaction(ledger, sent)))
    }

    pub(super) async fn receipt(&mut self, hash: B256) -> Result<Value, RpcError> {
        let ledger = self.ledger().await?;
        Ok(ledger.by_hash(hash).map_or(Value::Null, |sent| ledger_json::receipt(ledger, sent)))
    }

    pub(super) async fn block_receipts(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let at = params.block_or_hash(0)?;
        let Some(number) = self.select_block(at).await? else { return Ok(Value::Null) };
        let ledger = self.ledger().await?;
        Ok(ledger.in_block(number).iter().map(|sent| ledger_json::receipt(ledger, sent)).collect())
    }

    pub(super) async fn fee_history(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let asked = params.number(0)?;
        let newest = self.select_block(BlockSelector::read(params.get(1))?).await?;
        let newest = newest.ok_or_else(|| RpcError::refused("the block does not exist yet"))?;
        let count = asked.min(MAX_FEE_HISTORY_BLOCKS).min(newest + 1);
        let percentiles = params.get(2).and_then(Value::as_array).map(Vec::len);
        if percentiles.is_some_and(|many| many > PERCENTILES) {
            return Err(RpcError::params(format!("too many percentiles: limit {PERCENTILES}")));
        }
        let (oldest, ledger) = (newest + 1 - count, self.ledger().await?);
        let blocks = oldest..oldest + count;
        let ratio = |number: u64| ledger_json::gas_used(ledger, number) as f64 / BLOCK_GAS as f64;
        let times = |value: Value, count: u64| vec![value; usize::try_from(count).unwrap_or_default()];
        let mut history = json!({
            "oldestBlock": quantity(oldest), "baseFeePerGas": times(quantity(BASE_FEE), count + 1),
            "gasUsedRatio": blocks.map(ratio).collect::<Vec<f64>>(),
        });
        if let Some(many) = percentiles {
            history["reward"] = times(Value::Array(vec![quantity(0); many]), count).into();
        }
        Ok(history)
    }
}
