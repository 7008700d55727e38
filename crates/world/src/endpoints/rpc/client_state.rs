//! State that this endpoint keeps for its clients on one chain: signatures already recorded, and installed filters.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::B256;

use super::error::RpcError;
use super::log_filter::LogFilter;

/// Maximum number of installed filters.
const MAX_FILTERS: usize = 100;

#[derive(Debug, Default)]
pub(super) struct ClientState {
    /// Hashes of transactions and authorizations whose signature is recorded.
    seen: BTreeSet<B256>,
    filters: BTreeMap<u64, InstalledFilter>,
    last_filter: u64,
}

/// Filter with the first block that has not been reported yet.
#[derive(Debug, Clone)]
pub(super) struct InstalledFilter {
    pub(super) kind: FilterKind,
    pub(super) next_block: u64,
}

#[derive(Debug, Clone)]
pub(super) enum FilterKind {
    Logs(LogFilter),
    Blocks,
    Transactions,
}

impl ClientState {
    /// Returns true the first time.
    pub(super) fn mark_seen(&mut self, hash: B256) -> bool {
        self.seen.insert(hash)
    }

    /// Installs a filter and returns its id.
    pub(super) fn install(&mut self, kind: FilterKind, next_block: u64) -> Result<u64, RpcError> {
        if self.filters.len() >= MAX_FILTERS {
            return Err(RpcError::refused(format!("too many filters: limit {MAX_FILTERS}; uninstall some first")));
        }
        self.last_filter += 1;
        self.filters.insert(self.last_filter, InstalledFilter { kind, next_block });
        Ok(self.last_filter)
    }

    pub(super) fn uninstall(&mut self, id: u64) -> bool {
        self.filters.remove(&id).is_some()
    }

    pub(super) fn filter(&mut self, id: u64) -> Result<&mut InstalledFilter, RpcError> {
        self.filters.get_mut(&id).ok_or_else(|| RpcError::refused("filter not found"))
    }
}
