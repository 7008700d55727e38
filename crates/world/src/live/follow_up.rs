//! Follow-ups of a successful transaction: a new position, or funds that arrive on another chain.

use super::mine::{RecordedTx, mine};
use super::planned_write::PlannedWrite;
use super::tool_error::ToolError;
use super::trial_state::TrialState;
use super::tx_plan::FollowUp;
use crate::ActingAgent;
use crate::chain::Tx;
use crate::chain::genesis::{KEEPER, keeper_calls};
use alloy_primitives::U256;
use model::transcript::ActionOrigin;
use model::{OpTarget, Role};
use serde_json::{Map, Value, json};

pub(super) async fn follow_up(
    state: &mut TrialState,
    write: &PlannedWrite<'_>,
    sent: &RecordedTx,
    answer: &mut Map<String, Value>,
) -> Result<(), ToolError> {
    match &write.plan.follow_up {
        None => {}
        Some(FollowUp::Position { assets }) => {
            let id = state.chains.add_position(sent.chain, assets);
            answer.insert("position_id".into(), json!(id));
        }
        Some(FollowUp::Arrive { chain, symbol, decimals, amount, to }) => {
            let builder = state.builder(*chain).await?;
            let via = OpTarget { role: Some(Role::Bridge), ..OpTarget::default() };
            let (asset, venue) = (builder.asset(symbol)?, builder.contract(&via, &["Venue"])?);
            // The token may have other decimals on the destination chain.
            let ten = U256::from(10);
            let amount = amount.saturating_mul(ten.pow(U256::from(asset.decimals))) / ten.pow(U256::from(*decimals));
            let block = sent.receipt.block.number;
            let data = keeper_calls::bridge_in(asset.at, amount, sent.chain, block, *to);
            let by = ActingAgent::new("bridge", write.request.who.depth);
            mine(state, &by, *chain, ActionOrigin::default(), &Tx::call(KEEPER, venue, data)).await?;
            answer.insert("bridge_id".into(), json!(format!("bridge-{}-{block}", sent.chain)));
        }
    }
    Ok(())
}
