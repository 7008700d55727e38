//! Mines a transaction and records it.

use super::trial_chain::MinedTx;
use super::trial_state::TrialState;
use crate::ActingAgent;
use crate::chain::{ChainError, Receipt, Tx, TxSubmission};
use model::EventKind;
use model::transcript::ActionOrigin;

/// Mined and recorded transaction.
#[derive(Debug)]
pub(super) struct RecordedTx {
    pub chain: u64,
    pub receipt: Receipt,
    pub nonce: u64,
    /// Hash under which the ledger lists it.
    pub id: String,
}

pub(super) async fn mine(
    state: &mut TrialState,
    who: &ActingAgent,
    chain: u64,
    origin: ActionOrigin,
    tx: &Tx,
) -> Result<RecordedTx, ChainError> {
    mine_submission(state, who, chain, origin, &tx.clone().into()).await
}

pub(super) async fn mine_submission(
    state: &mut TrialState,
    who: &ActingAgent,
    chain: u64,
    origin: ActionOrigin,
    submission: &TxSubmission,
) -> Result<RecordedTx, ChainError> {
    let MinedTx { hash, receipt, nonce, decoded } = state.chain(chain).await?.send(submission).await?;
    state.record.note(who, EventKind::Mined { origin, what: decoded });
    Ok(RecordedTx { chain, receipt, nonce, id: hash.to_string() })
}
