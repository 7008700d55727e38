//! Parses the filters of `eth_getLogs` and `eth_newFilter`.

use alloy_primitives::{Address, B256};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::RpcError;
use super::params::BlockSelector;
use crate::chain::Log;

/// Blocks, addresses and topics whose logs are wanted.
#[derive(Debug, Clone)]
pub(super) struct LogFilter {
    pub(super) blocks: FilterBlocks,
    addresses: Option<Vec<Address>>,
    topics: Vec<Option<Vec<B256>>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum FilterBlocks {
    Hash(B256),
    Range { first: BlockSelector, last: BlockSelector },
}

impl LogFilter {
    pub(super) fn read(value: Option<&Value>) -> Result<Self, RpcError> {
        let Some(Value::Object(filter)) = value else { return Err(RpcError::params("parameter 0 is not a filter")) };
        let blocks = match filter.get("blockHash").filter(|hash| !hash.is_null()) {
            Some(hash) => {
                FilterBlocks::Hash(serde_json::from_value(hash.clone()).map_err(|_| RpcError::params("blockHash is not a hash"))?)
            }
            None => FilterBlocks::Range { first: range_end(filter.get("fromBlock"))?, last: range_end(filter.get("toBlock"))? },
        };
        let topics = match filter.get("topics") {
            None | Some(Value::Null) => vec![],
            Some(Value::Array(topics)) if topics.len() <= 4 => {
                topics.iter().map(|topic| one_or_many(Some(topic), "topics")).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(RpcError::params("topics must be an array of at most four entries")),
        };
        Ok(Self { blocks, addresses: one_or_many(filter.get("address"), "address")?, topics })
    }

    /// Returns whether address and topics of a log match.
    pub(super) fn accepts(&self, log: &Log) -> bool {
        let named = |at: usize, of: &Option<Vec<B256>>| match (of, log.topics.get(at)) {
            (None, _) => true,
            (Some(of), Some(topic)) => of.contains(topic),
            (Some(_), None) => false,
        };
        self.addresses.as_ref().is_none_or(|of| of.contains(&log.address))
            && log.topics.len() >= self.topics.len()
            && self.topics.iter().enumerate().all(|(at, of)| named(at, of))
    }
}

fn range_end(value: Option<&Value>) -> Result<BlockSelector, RpcError> {
    match BlockSelector::read(value)? {
        BlockSelector::Hash(_) => Err(RpcError::params("fromBlock and toBlock must be numbers or tags")),
        end @ (BlockSelector::Latest | BlockSelector::Earliest | BlockSelector::Number(_)) => Ok(end),
    }
}

/// Parses one value or a list of values. Returns `None` if all are allowed: null, absent or an empty list.
fn one_or_many<T: DeserializeOwned>(value: Option<&Value>, what: &str) -> Result<Option<Vec<T>>, RpcError> {
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
