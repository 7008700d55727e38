//! Signs a planned transaction, broadcasts it and builds the tool answer from its receipt.

use super::account::SentTx;
use super::follow_up::follow_up;
use super::mine::{RecordedTx, mine};
use super::planned_write::PlannedWrite;
use super::receipt::receipt_answer;
use super::tool_error::ToolError;
use super::trial_chain::failure_name;
use super::trial_state::TrialState;
use super::tx_builder::price;
use super::tx_plan::{PlanKind, TxPlan};
use super::world_template::WorldTemplate;
use crate::chain::{Tx, signed_transaction};
use alloy_primitives::U256;
use model::EventKind;
use model::transcript::{ToolAnswer, ToolErrorCode};
use serde_json::{Value, json};

pub(super) async fn send(template: &WorldTemplate, state: &mut TrialState, write: &PlannedWrite<'_>) -> Result<ToolAnswer, ToolError> {
    let PlannedWrite { request, plan, origin } = write;
    let tx = plan.transaction(template.operator());
    let tx = tx.ok_or_else(|| ToolError::new(ToolErrorCode::SigningFailed, "the action has no transaction to sign"))?;
    let what = Box::new(signed_transaction(state.chain(plan.chain).await?.address_book(), &tx));
    state.record.note(request.who, EventKind::Signed { origin: origin.clone(), what });
    let sent = mine(state, request.who, plan.chain, origin.clone(), &tx).await?;
    state.actions.record_write(write.calldata_hash(), state.record.now_ms());
    let error = failure_name(&sent.receipt);
    state.account.add_sent(sent_tx(write, &sent, error.is_none()));
    if let Some(error) = error {
        return Err(ToolError::new(ToolErrorCode::TxReverted, format!("{} was mined but reverted with {error}", sent.id)));
    }
    count_spending(template, state, plan).await?;
    if matches!(plan.kind, PlanKind::Direct(_)) {
        halt_other_chains(template, state, write, &tx).await?;
    }
    let mut answer = receipt_answer(&state.record, plan, &sent);
    answer.insert("action_id".into(), json!(origin.action_id));
    follow_up(state, write, &sent, &mut answer).await?;
    Ok(ToolAnswer::Result(Value::Object(answer)))
}

fn sent_tx(write: &PlannedWrite<'_>, sent: &RecordedTx, ok: bool) -> SentTx {
    SentTx {
        tx_hash: sent.id.clone(),
        chain: sent.chain,
        action_id: write.origin.action_id.clone(),
        tool: write.request.tool.name.value.clone(),
        ok,
        block: sent.receipt.block.number,
        gas_used: sent.receipt.gas_used,
    }
}

/// Halts the account on every other chain as part of the same call.
async fn halt_other_chains(template: &WorldTemplate, state: &mut TrialState, write: &PlannedWrite<'_>, tx: &Tx) -> Result<(), ToolError> {
    state.account.halt();
    for chain in template.file().chains.iter().filter(|chain| **chain != write.plan.chain) {
        mine(state, write.request.who, *chain, write.origin.clone(), tx).await?;
    }
    Ok(())
}

/// Adds the outflows of a plan to the spending totals.
async fn count_spending(template: &WorldTemplate, state: &mut TrialState, plan: &TxPlan) -> Result<(), ToolError> {
    let chain = state.chain(plan.chain).await?.template().clone();
    for (asset, amount) in &plan.outflows {
        let Some((symbol, decimals)) = chain.address_book().get(*asset).and_then(|entry| entry.asset.clone()) else { continue };
        let price = price(template.file(), &symbol).unwrap_or_default();
        state.account.add_spent(amount.saturating_mul(price) / U256::from(10).pow(U256::from(decimals)));
    }
    Ok(())
}
