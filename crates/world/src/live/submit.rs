//! Executes a write: owner confirmation, hooks, then signing, broadcasting, receiving or storing.

use super::actions::FrozenAction;
use super::broadcast::send;
use super::hooks::{HookInput, objections};
use super::inflow::receive;
use super::operations;
use super::planned_write::PlannedWrite;
use super::same_value::ValueComparison;
use super::sign_typed::sign_typed;
use super::tool_error::ToolError;
use super::tool_request::ToolRequest;
use super::trial_state::TrialState;
use super::tx_plan::{PlanKind, TxPlan};
use super::world_settings::DefenceMode;
use super::world_template::WorldTemplate;
use model::transcript::{ActionOrigin, MemoryProvenance, ToolAnswer, ToolErrorCode};
use model::world::OwnerConsent;
use model::{EventKind, ToolCapability};
use serde_json::{Map, Value, json};

pub(super) async fn submit(template: &WorldTemplate, state: &mut TrialState, request: &ToolRequest<'_>) -> Result<ToolAnswer, ToolError> {
    let action_id = named_action(state, request);
    let plan = plan(state, request, action_id.as_deref()).await?;
    let calldata_hash = plan.calldata_hash(template.operator());
    let origin = ActionOrigin { call: Some(request.call), action_id, calldata_hash: Some(calldata_hash), trade: plan.trade.clone() };
    let write = PlannedWrite { request, plan, origin };
    let mut facts = write.plan.outputs.clone();
    facts.insert("chain_id".into(), json!(write.plan.chain));
    confirm(template, state, request, facts)?;
    run_hooks(template, state, &write).await?;
    match &write.plan.kind {
        PlanKind::Execute(_) | PlanKind::Direct(_) => send(template, state, &write).await,
        PlanKind::Sign(data) => sign_typed(template, state, &write, data).await,
        PlanKind::Inflow { asset, amount } => receive(state, &write, *asset, *amount).await,
        PlanKind::Remember { key, value } => Ok(remember(state, request, key, value)),
    }
}

/// Returns the id of the prepared action that a call names, directly or inside a quote.
fn named_action(state: &TrialState, request: &ToolRequest<'_>) -> Option<String> {
    if let Some(id) = request.action_id() {
        return Some(id.to_owned());
    }
    if !request.tool.acts.sends_prepared() {
        return None;
    }
    let objects = || request.given.values().filter_map(Value::as_object);
    if let Some(id) = objects().find_map(|object| object.get("action_id")).and_then(Value::as_str) {
        return Some(id.to_owned());
    }
    let texts: Vec<&str> = request.given.values().chain(objects().flat_map(Map::values)).filter_map(Value::as_str).collect();
    texts.iter().find(|text| state.actions.get(text).is_some()).or_else(|| texts.first()).map(|text| (*text).to_owned())
}

/// Returns the frozen plan if the arguments match it, else a plan built from the arguments, with other calldata.
async fn plan(state: &mut TrialState, request: &ToolRequest<'_>, action_id: Option<&str>) -> Result<TxPlan, ToolError> {
    let tool = request.tool;
    if let Some(id) = action_id {
        let frozen = state.actions.get_prepared(id)?.clone();
        let commits = tool.acts.sends_prepared();
        if commits || (frozen.tool == *tool.name && restates(state, request, &frozen).await?) {
            return Ok(frozen.plan);
        }
    }
    let args = request.args();
    let chain = state.chains.chain_of(tool, &args)?;
    operations::plan_operation(&mut state.builder(chain).await?, tool, &args).await
}

/// Returns whether every argument of the call means what the prepared action fixed.
async fn restates(state: &mut TrialState, request: &ToolRequest<'_>, frozen: &FrozenAction) -> Result<bool, ToolError> {
    let builder = state.builder(frozen.plan.chain).await?;
    let comparison = ValueComparison { builder: &builder };
    let agrees = |(name, value): (&String, &Value)| {
        let param = request.tool.params.get(name);
        let known = frozen.args.get(name).or_else(|| param?.default.as_ref());
        matches!(name.as_str(), "action_id" | "dry_run")
            || known.is_some_and(|known| comparison.is_same(param.and_then(|param| param.kind.as_ref()), known, value))
    };
    Ok(request.given.iter().all(agrees))
}

/// Asks the owner about a privileged call, with the facts of its plan; fails if the owner declines.
pub(super) fn confirm(
    template: &WorldTemplate,
    state: &mut TrialState,
    request: &ToolRequest<'_>,
    mut facts: Map<String, Value>,
) -> Result<(), ToolError> {
    let ToolRequest { who, call, tool, given } = *request;
    if tool.capability != ToolCapability::Privileged {
        return Ok(());
    }
    let granted = template.file().owner == OwnerConsent::Grants;
    facts.insert("tool".into(), json!(tool.name.value));
    facts.insert("arguments".into(), Value::Object(given.clone()));
    state.record.note(who, EventKind::Confirmed { call, facts, granted });
    if granted { Ok(()) } else { Err(ToolError::new(ToolErrorCode::OwnerDeclined, "the owner declined the confirmation request")) }
}

/// Records every objection. With [`DefenceMode::Enforce`] the first one blocks the write.
async fn run_hooks(template: &WorldTemplate, state: &mut TrialState, write: &PlannedWrite<'_>) -> Result<(), ToolError> {
    let ToolRequest { who, call, tool, given } = *write.request;
    let chain = state.chain(write.plan.chain).await?.template().clone();
    let spent = state.account.spent_before(&write.plan.kind);
    let found = objections(&HookInput {
        policy: template.policy()?,
        world: template.file(),
        book: chain.address_book(),
        actions: &state.actions,
        now_ms: state.now_ms(),
        halted: state.account.is_halted(),
        tool,
        args: given,
        action_id: write.origin.action_id.as_deref(),
        plan: &write.plan,
        calldata_hash: write.calldata_hash(),
        spent: &spent,
    });
    for objection in found {
        let (hook, why) = (objection.hook.to_owned(), objection.why.clone());
        match state.setup.defence {
            DefenceMode::Observe => state.record.note(who, EventKind::WouldBlock { call, hook, why }),
            DefenceMode::Enforce => {
                state.record.note(who, EventKind::Blocked { call, hook, why });
                return Err(ToolError::new(objection.code, objection.why));
            }
        }
    }
    Ok(())
}

fn remember(state: &mut TrialState, request: &ToolRequest<'_>, topic: &str, value: &Value) -> ToolAnswer {
    let provenance = MemoryProvenance { source: request.who.agent.clone(), trusted: true };
    let entry = state.memory.store(topic, value.clone(), provenance).clone();
    let answer = ToolAnswer::Result(json!({ "status": "stored", "id": entry.key }));
    let happened = EventKind::Remembered { key: entry.key, value: entry.value, provenance: entry.provenance };
    state.record.note(request.who, happened);
    answer
}
