//! Mines a transaction and records it.

use super::trial_chain::MinedTx;
use super::trial_state::TrialState;
use crate::ActingAgent;
use crate::chain::{ChainError, Receipt, Tx};
use alloy_primitives::{Address, hex, keccak256};
use model::EventKind;
use model::transcript::ActionOrigin;

/// Mined and recorded transaction.
#[derive(Debug)]
pub(super) struct RecordedTx {
    pub chain: u64,
    pub receipt: Receipt,
    pub nonce: u64,
    /// Id derived from chain, sender, nonce and data, so that it is equal on every chain backend.
    pub id: String,
}

pub(super) async fn mine(
    state: &mut TrialState,
    who: &ActingAgent,
    chain: u64,
    origin: ActionOrigin,
    tx: &Tx,
) -> Result<RecordedTx, ChainError> {
    let MinedTx { receipt, nonce, decoded } = state.chain(chain).await?.send(tx).await?;
    state.record.note(who, EventKind::Mined { origin, what: decoded });
    Ok(RecordedTx { chain, receipt, nonce, id: transaction_id(chain, state.record.named_address(tx.from), nonce, tx) })
}

fn transaction_id(chain: u64, from: Address, nonce: u64, tx: &Tx) -> String {
    let parts = [&chain.to_be_bytes()[..], from.as_slice(), &nonce.to_be_bytes()[..], tx.data.as_ref()].concat();
    hex::encode_prefixed(keccak256(parts))
}
