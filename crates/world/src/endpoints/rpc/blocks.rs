//! RPC methods for blocks, fees and logs.

use alloy_primitives::{Address, B256};
use serde_json::{Value, json};

use super::RpcContext;
use super::error::RpcError;
use super::params::{BlockSelector, RpcParams, quantity};
use crate::chain::{BASE_FEE, BlockInfo, ChainBackend, Log};

/// Maximum number of blocks in a fee history, as in real nodes.
const MAX_FEE_HISTORY_BLOCKS: u64 = 1024;
const PERCENTILES: usize = 100;

impl RpcContext<'_> {
    pub(super) async fn chain(&mut self) -> Result<&mut dyn ChainBackend, RpcError> {
        Ok(self.world.chain(self.chain).await?)
    }

    pub(super) async fn latest(&mut self) -> Result<BlockInfo, RpcError> {
        let latest = self.chain().await?.latest().await?;
        self.history.record_block(latest);
        Ok(latest)
    }

    /// Fails if a block other than the latest is selected. Older state is not kept, and the latest would be a wrong answer.
    pub(super) async fn require_latest_block(&mut self, value: Option<&Value>) -> Result<(), RpcError> {
        let at = BlockSelector::read(value)?;
        let latest = self.latest().await?.number;
        let number = match at {
            BlockSelector::Latest => return Ok(()),
            BlockSelector::Earliest => 0,
            BlockSelector::Number(number) => number,
            BlockSelector::Hash(hash) => self.history.block_number_of(hash).ok_or_else(|| RpcError::refused("header not found"))?,
        };
        if number == latest {
            Ok(())
        } else {
            Err(RpcError::refused(format!("only the state of the latest block, {latest}, is available")))
        }
    }

    pub(super) async fn block_number(&mut self) -> Result<Value, RpcError> {
        Ok(quantity(self.latest().await?.number))
    }

    pub(super) async fn block_by_number(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let latest = self.latest().await?.number;
        let number = match BlockSelector::read(params.get(0))? {
            BlockSelector::Latest => Some(latest),
            BlockSelector::Earliest => Some(0),
            BlockSelector::Number(number) => Some(number),
            BlockSelector::Hash(hash) => self.history.block_number_of(hash),
        };
        Ok(number.map_or(Value::Null, |number| self.history.block(number, params.flag(1))))
    }

    pub(super) async fn block_by_hash(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        self.latest().await?;
        let number = self.history.block_number_of(params.hash(0)?);
        Ok(number.map_or(Value::Null, |number| self.history.block(number, params.flag(1))))
    }

    pub(super) async fn fee_history(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let latest = self.latest().await?.number;
        let asked = params.number(0)?;
        let newest = match BlockSelector::read(params.get(1))? {
            BlockSelector::Latest => latest,
            BlockSelector::Earliest => 0,
            BlockSelector::Number(number) if number <= latest => number,
            BlockSelector::Number(_) | BlockSelector::Hash(_) => return Err(RpcError::refused("the block does not exist yet")),
        };
        let count = asked.min(MAX_FEE_HISTORY_BLOCKS).min(newest + 1);
        let percentiles = params.get(2).and_then(Value::as_array).map(Vec::len);
        if percentiles.is_some_and(|many| many > PERCENTILES) {
            return Err(RpcError::params(format!("too many percentiles: limit {PERCENTILES}")));
        }
        let times = |value: Value, count: u64| vec![value; usize::try_from(count).unwrap_or_default()];
        let mut history = json!({
            "oldestBlock": quantity(newest + 1 - count), "baseFeePerGas": times(quantity(BASE_FEE), count + 1), "gasUsedRatio": times(json!(0.0), count),
        });
        if let Some(many) = percentiles {
            history["reward"] = times(Value::Array(vec![quantity(0); many]), count).into();
        }
        Ok(history)
    }

    /// Returns logs of transactions that were sent through this endpoint.
    pub(super) async fn logs(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let latest = self.latest().await?.number;
        let Some(Value::Object(filter)) = params.get(0) else { return Err(RpcError::params("parameter 0 is not a filter")) };
        let (first, last) = match filter.get("blockHash").filter(|hash| !hash.is_null()) {
            Some(hash) => {
                let hash = serde_json::from_value(hash.clone()).map_err(|_| RpcError::params("blockHash is not a hash"))?;
                let number = self.history.block_number_of(hash).ok_or_else(|| RpcError::refused("unknown block"))?;
                (number, number)
            }
            None => (block_number_or(filter.get("fromBlock"), latest)?, block_number_or(filter.get("toBlock"), latest)?),
        };
        let addresses: Option<Vec<Address>> = one_or_many(filter.get("address"), "address")?;
        let topics: Vec<Option<Vec<B256>>> = match filter.get("topics") {
            None | Some(Value::Null) => vec![],
            Some(Value::Array(topics)) if topics.len() <= 4 => {
                topics.iter().map(|topic| one_or_many(Some(topic), "topics")).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(RpcError::params("topics must be an array of at most four entries")),
        };
        let wanted = |block: u64, log: &Log| {
            let named = |at: usize, of: &Option<Vec<B256>>| match (of, log.topics.get(at)) {
                (None, _) => true,
                (Some(of), Some(topic)) => of.contains(topic),
                (Some(_), None) => false,
            };
            (first..=last).contains(&block)
                && addresses.as_ref().is_none_or(|of| of.contains(&log.address))
                && log.topics.len() >= topics.len()
                && topics.iter().enumerate().all(|(at, of)| named(at, of))
        };
        Ok(self.history.logs(wanted).into())
    }
}

fn block_number_or(value: Option<&Value>, latest: u64) -> Result<u64, RpcError> {
    match BlockSelector::read(value)? {
        BlockSelector::Latest => Ok(latest),
        BlockSelector::Earliest => Ok(0),
        BlockSelector::Number(number) => Ok(number),
        BlockSelector::Hash(_) => Err(RpcError::params("fromBlock and toBlock must be numbers or tags")),
    }
}

/// Parses one value or a list of values. Returns `None` if all are allowed: null, absent or an empty list.
fn one_or_many<T: serde::de::DeserializeOwned>(value: Option<&Value>, what: &str) -> Result<Option<Vec<T>>, RpcError> {
    let wrong = |_| RpcError::params(format!("{what} is invalid"));
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) if items.is_empty() => Ok(None),
        Some(list @ Value::Array(_)) => serde_json::from_value(list.clone()).map(Some).map_err(wrong),
        Some(one @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_))) => {
            serde_json::from_value(one.clone()).map(|one| Some(vec![one])).map_err(wrong)
        }
    }
}
