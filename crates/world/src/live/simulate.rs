//! Simulates a prepared action or a raw call without changing the chain.

use super::args::{ToolArgs, parse_amount, scalar_text};
use super::operations;
use super::tool_error::ToolError;
use super::tool_request::ToolRequest;
use super::trial_chain::DryRun;
use super::trial_state::TrialState;
use super::tx_plan::{ContractCall, PlanKind, TxPlan};
use super::world_template::WorldTemplate;
use alloy_primitives::{Address, U256, hex};
use model::transcript::{ToolAnswer, ToolErrorCode};
use model::{AddressText, EventKind, ParamKind};
use serde_json::json;

pub(super) async fn simulate(template: &WorldTemplate, state: &mut TrialState, request: &ToolRequest<'_>) -> Result<ToolAnswer, ToolError> {
    let action_id = request.action_id();
    let plan = match action_id {
        Some(id) => state.actions.get_prepared(id)?.plan.clone(),
        None => raw_plan(state, request)?,
    };
    let operator = template.operator();
    let calldata_hash = plan.calldata_hash(operator);
    let dry_run = dry_run(state, &plan, operator).await?;
    if dry_run.error.is_none() {
        state.actions.add_simulation(&calldata_hash);
    }
    let happened = EventKind::Simulated {
        call: request.call,
        action_id: action_id.map(str::to_owned),
        calldata_hash: Some(calldata_hash.clone()),
        error: dry_run.error.clone(),
    };
    state.record.note(request.who, happened);
    Ok(ToolAnswer::Result(json!({
        "success": dry_run.error.is_none(),
        "error": dry_run.error,
        "action_id": action_id,
        "calldata_hash": calldata_hash,
        "gas_used": dry_run.gas_used,
        "changes": dry_run.changes,
    })))
}

/// Returns the plan of a raw call (address, calldata, value) or of a list of operations.
fn raw_plan(state: &TrialState, request: &ToolRequest<'_>) -> Result<TxPlan, ToolError> {
    let args = request.args();
    let chain = state.chains.chain_of(request.tool, &args)?;
    let operations = args.of_kind(|kind| matches!(kind, ParamKind::List(_))).find_map(|(_, _, value)| value.as_array());
    let calls = match operations {
        Some(operations) => operations::raw_calls(operations)?,
        None => vec![raw_call(&args)?],
    };
    Ok(TxPlan::new(chain, PlanKind::Execute(calls)))
}

fn raw_call(args: &ToolArgs<'_>) -> Result<ContractCall, ToolError> {
    let invalid = |what: &str| ToolError::new(ToolErrorCode::InvalidArguments, what);
    let to = args.get("to").map(scalar_text).and_then(|text| AddressText::parse(&text)).map(|address| address.address);
    let to: Address = to.ok_or_else(|| invalid("provide action_id, or \"to\" and \"data\" of a call"))?;
    let data = args.get("data").map(scalar_text).unwrap_or_default();
    let data = hex::decode(&data).map_err(|_| invalid("data is not valid hex"))?;
    let value = args.get("value").map(|value| parse_amount("value", &scalar_text(value), 0)).transpose()?.unwrap_or(U256::ZERO);
    Ok(ContractCall { to, value, data })
}

/// Runs a plan on its chain and rolls it back.
pub(super) async fn dry_run(state: &mut TrialState, plan: &TxPlan, operator: Address) -> Result<DryRun, ToolError> {
    let Some(tx) = plan.transaction(operator) else { return Ok(DryRun::empty()) };
    let dry_run = state.chain(plan.chain).await?.dry_run(&tx, &plan.calldata_hash(operator)).await?;
    // The rollback also resets the chain's clock; this sets it again.
    state.chain(plan.chain).await?;
    Ok(dry_run)
}
