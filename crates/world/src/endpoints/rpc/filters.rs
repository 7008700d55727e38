//! RPC methods for logs and filters.

use alloy_primitives::B256;
use serde_json::{Value, json};

use super::RpcContext;
use super::client_state::{FilterKind, InstalledFilter};
use super::error::RpcError;
use super::ledger_json;
use super::log_filter::{FilterBlocks, LogFilter};
use super::params::{BlockSelector, RpcParams, quantity};

/// Maximum number of block hashes that one poll of a block filter returns.
const MAX_BLOCK_HASHES: u64 = 1_000;

impl RpcContext<'_> {
    pub(super) async fn logs(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let filter = LogFilter::read(params.get(0))?;
        self.matching_logs(&filter, 0).await
    }

    pub(super) async fn new_log_filter(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let filter = LogFilter::read(params.get(0))?;
        self.install(FilterKind::Logs(filter)).await
    }

    pub(super) async fn install(&mut self, kind: FilterKind) -> Result<Value, RpcError> {
        let head = self.latest().await?.number;
        self.client.install(kind, head + 1).map(quantity)
    }

    /// Returns everything since the last poll, or since the filter was installed.
    pub(super) async fn filter_changes(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let (id, head) = (params.number(0)?, self.latest().await?.number);
        let filter = self.client.filter(id)?;
        let InstalledFilter { kind, next_block: first } = filter.clone();
        filter.next_block = head + 1;
        match kind {
            FilterKind::Logs(filter) => self.matching_logs(&filter, first).await,
            FilterKind::Blocks => {
                let ledger = self.ledger().await?;
                let oldest = first.max((head + 1).saturating_sub(MAX_BLOCK_HASHES));
                Ok((oldest..=head).map(|number| json!(ledger.block_hash(number))).collect())
            }
            FilterKind::Transactions => {
                let sent = self.ledger().await?.transactions().iter().filter(|sent| sent.receipt.block.number >= first);
                Ok(sent.map(|sent| json!(sent.hash)).collect())
            }
        }
    }

    pub(super) async fn filter_logs(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        match self.client.filter(params.number(0)?)?.kind.clone() {
            FilterKind::Logs(filter) => self.matching_logs(&filter, 0).await,
            FilterKind::Blocks | FilterKind::Transactions => Err(RpcError::refused("filter not found: it is not a log filter")),
        }
    }

    /// Returns the logs of the filter's blocks from `first` on.
    async fn matching_logs(&mut self, filter: &LogFilter, first: u64) -> Result<Value, RpcError> {
        let head = self.latest().await?.number;
        let number = |at: BlockSelector| match at {
            BlockSelector::Latest => head,
            BlockSelector::Earliest => 0,
            BlockSelector::Number(number) => number,
            BlockSelector::Hash(_) => u64::MAX,
        };
        let (from, to) = match filter.blocks {
            FilterBlocks::Hash(hash) => {
                let at = self.known_block(hash).await?.ok_or_else(|| RpcError::refused("unknown block"))?;
                (at, at)
            }
            // While a filter is polled, "latest" as its start means the time at which it was installed.
            FilterBlocks::Range { first: BlockSelector::Latest, last } if first > 0 => (first, number(last)),
            FilterBlocks::Range { first: from, last } => (number(from).max(first), number(last)),
        };
        Ok(ledger_json::logs(self.ledger().await?, |block, log| (from..=to).contains(&block) && filter.accepts(log)).into())
    }

    /// Returns the number of an existing block.
    pub(super) async fn known_block(&mut self, hash: B256) -> Result<Option<u64>, RpcError> {
        let head = self.latest().await?.number;
        Ok(self.ledger().await?.block_number(hash).filter(|number| *number <= head))
    }
}
