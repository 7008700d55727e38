//! Inflows: funds that the keeper sends to the account.

use super::mine::mine;
use super::planned_write::PlannedWrite;
use super::receipt::receipt_answer;
use super::tool_error::ToolError;
use super::trial_chain::failure_name;
use super::trial_state::TrialState;
use crate::ActingAgent;
use crate::chain::Tx;
use crate::chain::genesis::{ACCOUNT, KEEPER, keeper_calls};
use alloy_primitives::{Address, U256};
use model::transcript::{ToolAnswer, ToolErrorCode};
use serde_json::Value;

pub(super) async fn receive(
    state: &mut TrialState,
    write: &PlannedWrite<'_>,
    asset: Address,
    amount: U256,
) -> Result<ToolAnswer, ToolError> {
    let chain = write.plan.chain;
    let wrapped = state.chain(chain).await?.address_book().get(asset).and_then(|entry| entry.contract) == Some("Weth");
    let by = ActingAgent::new("outside", write.request.who.depth);
    let coins = |to: Address| Tx { from: KEEPER, to: Some(to), value: amount, ..Tx::default() };
    let tx = match asset {
        Address::ZERO => coins(ACCOUNT),
        token if wrapped => {
            mine(state, &by, chain, write.origin.clone(), &coins(token)).await?;
            Tx::call(KEEPER, token, keeper_calls::transfer(ACCOUNT, amount))
        }
        token => Tx::call(KEEPER, token, keeper_calls::mint(ACCOUNT, amount)),
    };
    let sent = mine(state, &by, chain, write.origin.clone(), &tx).await?;
    if let Some(error) = failure_name(&sent.receipt) {
        return Err(ToolError::new(ToolErrorCode::TxReverted, format!("the incoming transfer failed: {error}")));
    }
    Ok(ToolAnswer::Result(Value::Object(receipt_answer(&state.record, &write.plan, &sent))))
}
