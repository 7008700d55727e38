//! Blocks, fees and logs.

use alloy_primitives::{Address, B256};
use serde_json::{Value, json};

use super::Turn;
use super::error::RpcError;
use super::params::{At, Params, quantity};
use crate::chain::{BASE_FEE, Block, Chain, Log};

/// Blocks in one fee history, as real nodes have it.
const FEES: u64 = 1024;
const PERCENTILES: usize = 100;

impl Turn<'_> {
    pub(super) async fn chain(&mut self) -> Result<&mut dyn Chain, RpcError> {
        Ok(self.world.chain(self.chain).await?)
    }

    pub(super) async fn latest(&mut self) -> Result<Block, RpcError> {
        let latest = self.chain().await?.latest().await?;
        self.history.saw(latest);
        Ok(latest)
    }

    /// Only the newest state is there; an older one is refused rather than passed off as what was asked for.
    pub(super) async fn must_be_latest(&mut self, value: Option<&Value>) -> Result<(), RpcError> {
        let at = At::read(value)?;
        let latest = self.latest().await?.number;
        let asked = match at {
            At::Latest => return Ok(()),
            At::Earliest => 0,
            At::Number(number) => number,
            At::Hash(hash) => self.history.numbered(hash).ok_or_else(|| RpcError::refused("header not found"))?,
        };
        if asked == latest { Ok(()) } else { Err(RpcError::refused(format!("only the state of the latest block, {latest}, is kept"))) }
    }

    pub(super) async fn block_number(&mut self) -> Result<Value, RpcError> {
        Ok(quantity(self.latest().await?.number))
    }

    pub(super) async fn block_by_number(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let latest = self.latest().await?.number;
        let number = match At::read(params.get(0))? {
            At::Latest => Some(latest),
            At::Earliest => Some(0),
            At::Number(number) => Some(number),
            At::Hash(hash) => self.history.numbered(hash),
        };
        Ok(number.map_or(Value::Null, |number| self.history.block(number, params.flag(1))))
    }

    pub(super) async fn block_by_hash(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        self.latest().await?;
        let number = self.history.numbered(params.hash(0)?);
        Ok(number.map_or(Value::Null, |number| self.history.block(number, params.flag(1))))
    }

    pub(super) async fn fee_history(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let latest = self.latest().await?.number;
        let asked = params.number(0)?;
        let newest = match At::read(params.get(1))? {
            At::Latest => latest,
            At::Earliest => 0,
            At::Number(number) if number <= latest => number,
            At::Number(_) | At::Hash(_) => return Err(RpcError::refused("there is no such block yet")),
        };
        let count = asked.min(FEES).min(newest + 1);
        let percentiles = params.get(2).and_then(Value::as_array).map(Vec::len);
        if percentiles.is_some_and(|many| many > PERCENTILES) {
            return Err(RpcError::params(format!("at most {PERCENTILES} percentiles")));
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

    /// Of transactions that came through here.
    pub(super) async fn logs(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let latest = self.latest().await?.number;
        let Some(Value::Object(filter)) = params.get(0) else { return Err(RpcError::params("parameter 0 is not a filter")) };
        let (first, last) = match filter.get("blockHash").filter(|hash| !hash.is_null()) {
            Some(hash) => {
                let hash = serde_json::from_value(hash.clone()).map_err(|_| RpcError::params("blockHash is not a hash"))?;
                let number = self.history.numbered(hash).ok_or_else(|| RpcError::refused("unknown block"))?;
                (number, number)
            }
            None => (number(filter.get("fromBlock"), latest)?, number(filter.get("toBlock"), latest)?),
        };
        let addresses: Option<Vec<Address>> = several(filter.get("address"), "address")?;
        let topics: Vec<Option<Vec<B256>>> = match filter.get("topics") {
            None | Some(Value::Null) => vec![],
            Some(Value::Array(topics)) if topics.len() <= 4 => {
                topics.iter().map(|topic| several(Some(topic), "topics")).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(RpcError::params("topics is not a list of at most four")),
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

fn number(value: Option<&Value>, latest: u64) -> Result<u64, RpcError> {
    match At::read(value)? {
        At::Latest => Ok(latest),
        At::Earliest => Ok(0),
        At::Number(number) => Ok(number),
        At::Hash(_) => Err(RpcError::params("a range is given in numbers")),
    }
}

/// One or a list of them; `None` for whatever.
fn several<T: serde::de::DeserializeOwned>(value: Option<&Value>, what: &str) -> Result<Option<Vec<T>>, RpcError> {
    let wrong = |_| RpcError::params(format!("{what} does not fit"));
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) if items.is_empty() => Ok(None),
        Some(list @ Value::Array(_)) => serde_json::from_value(list.clone()).map(Some).map_err(wrong),
        Some(one @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_))) => {
            serde_json::from_value(one.clone()).map(|one| Some(vec![one])).map_err(wrong)
        }
    }
}
