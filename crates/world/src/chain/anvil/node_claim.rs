//! Exclusive use of a running node by one trial at a time, each from the state that the user gave it.

use super::node_client::{NodeClient, display_origin};
use super::{Anvil, ChainError};
use alloy_primitives::{Address, B256, U64, U256, address};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, PoisonError};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Chain id of an Anvil that was started without one.
const DEFAULT_CHAIN: u64 = 31_337;
/// Account whose first slot holds the id, plus one, of the snapshot of the user's state. It lies on the node, so that the next process finds it.
const MARKER: Address = address!("BA2D0000000000000000000000000000000BA2D0");

static CLAIMS: LazyLock<std::sync::Mutex<BTreeMap<String, Arc<Mutex<()>>>>> = LazyLock::new(Default::default);

/// Held while a trial uses the node.
#[derive(Debug)]
pub(super) struct NodeClaim {
    _held: OwnedMutexGuard<()>,
}

impl NodeClaim {
    /// Waits until no other trial of this process uses the node.
    pub(super) async fn wait(url: &str) -> Self {
        let claim = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner).entry(display_origin(url)).or_default().clone();
        Self { _held: claim.lock_owned().await }
    }
}

/// Sets the chain id of a node that has Anvil's default one.
pub(super) async fn adopt_chain_id(node: &mut NodeClient, id: u64) -> Result<(), ChainError> {
    let chain = node.request("eth_chainId", json!([])).await.map_err(|error| with_remedy(error, id))?;
    if serde_json::from_value::<U64>(chain).is_ok_and(|chain| chain == U64::from(DEFAULT_CHAIN)) {
        node.request("anvil_setChainId", json!([id])).await.map_err(|error| with_remedy(error, id))?;
    }
    Ok(())
}

/// Reverts the node to the state before the last trial, if there was one, and marks that state again.
pub(super) async fn undo_last_trial(anvil: &mut Anvil) -> Result<(), ChainError> {
    let marked: B256 = anvil.request_as("eth_getStorageAt", json!([MARKER, "0x0", "latest"])).await?;
    if let Some(id) = U256::from_be_bytes(marked.0).checked_sub(U256::ONE) {
        let undone: bool = anvil.request_as("evm_revert", json!([id])).await?;
        if !undone {
            let node = anvil.rpc.display_url();
            return Err(ChainError::Unsupported(format!(
                "{node} still holds the world of another run: restart the node, or fork one that no run has used"
            )));
        }
    }
    let id: U256 = anvil.request_as("evm_snapshot", json!([])).await?;
    let mark = B256::from(id + U256::ONE);
    anvil.rpc.request("anvil_setStorageAt", json!([MARKER, "0x0", mark])).await.map(drop)
}

/// Adds the remedy to the failure of a first request.
pub(super) fn with_remedy(error: ChainError, id: u64) -> ChainError {
    let remedy = format!("it must be the URL of a running Anvil: start one with `anvil --chain-id {id}`, or use --chain anvil");
    match error {
        ChainError::Node(what) => ChainError::Node(format!("{what}; {remedy}")),
        ChainError::Refused(what) | ChainError::Unsupported(what) => ChainError::Unsupported(format!("{what}; {remedy}")),
    }
}
