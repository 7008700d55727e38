//! Quotes, previews and dry runs: plans a write and freezes it under an action id.

use super::actions::FrozenAction;
use super::args::ToolArgs;
use super::fixtures::FixtureAnswer;
use super::operations;
use super::tool_error::{ToolError, quote_value};
use super::tool_request::{ToolRequest, check_schema};
use super::trial_state::TrialState;
use super::tx_plan::TxPlan;
use super::world_template::WorldTemplate;
use model::transcript::{PreparedAction, ToolAnswer, ToolErrorCode};
use model::{EventKind, PrepareTarget, Tool, Workspace};
use serde_json::{Map, Value, json};

/// Write that a request prepares.
struct ActionTarget<'a> {
    tool: &'a Tool,
    /// Arguments nested in the request for the write; `None` if the request's own arguments apply.
    inner: Option<Map<String, Value>>,
}

pub(super) async fn prepare(template: &WorldTemplate, state: &mut TrialState, request: &ToolRequest<'_>) -> Result<ToolAnswer, ToolError> {
    let ActionTarget { tool, inner } = target(template.workspace(), request)?;
    let args = match &inner {
        Some(inner) => {
            check_schema(tool, inner)?;
            ToolArgs::new(tool, inner)
        }
        None => request.args(),
    };
    let chain = state.chains.chain_of(tool, &args)?;
    let plan = operations::plan_operation(&mut state.builder(chain).await?, tool, &args).await?;
    let fixed = match inner {
        Some(inner) => inner,
        None => template.workspace().executed_args(request.tool, tool, request.given),
    };
    let write = ToolRequest { tool, given: &fixed, ..*request };
    let mut answer = freeze(template, state, &write, plan).await?;
    let fixture = state.fixtures(template).answer(request.tool, request.given);
    if let Some(FixtureAnswer { answer: ToolAnswer::Result(Value::Object(fixture)), reads }) = fixture {
        state.record.note_holes(request.who, reads);
        for (key, value) in fixture {
            answer.entry(key).or_insert(value);
        }
    }
    Ok(ToolAnswer::Result(Value::Object(answer)))
}

fn target<'a>(workspace: &'a Workspace, request: &ToolRequest<'a>) -> Result<ActionTarget<'a>, ToolError> {
    let known = |name: &str| {
        let unknown = || ToolError::new(ToolErrorCode::UnknownPreparedTool, format!("unknown tool {name}"));
        workspace.tool(name).ok_or_else(unknown)
    };
    match &request.tool.prepares {
        None => Ok(ActionTarget { tool: request.tool, inner: None }),
        Some(PrepareTarget::Tool(name)) => Ok(ActionTarget { tool: known(name)?, inner: None }),
        Some(PrepareTarget::ByParam { word: param, args: inside, tools }) => {
            let chosen = request.args().text(param).unwrap_or_default();
            let unknown = || {
                let what = format!("{param}: {} cannot be prepared", quote_value(&chosen));
                ToolError::new(ToolErrorCode::InvalidArguments, what)
            };
            let name = tools.get(&chosen).ok_or_else(unknown)?;
            let inner = (inside != "all").then(|| request.given.get(inside).and_then(Value::as_object).cloned().unwrap_or_default());
            Ok(ActionTarget { tool: known(name)?, inner })
        }
    }
}

async fn freeze(
    template: &WorldTemplate,
    state: &mut TrialState,
    write: &ToolRequest<'_>,
    plan: TxPlan,
) -> Result<Map<String, Value>, ToolError> {
    let id = state.actions.next_id();
    let calldata_hash = plan.calldata_hash(template.operator());
    let block = state.chain(plan.chain).await?.node().latest().await?.number;
    let now_ms = state.now_ms();
    let expires_at_ms = now_ms + template.policy()?.quote_max_age_s * 1000;
    let mut answer = plan.outputs.clone();
    answer.insert("action_id".into(), json!(id));
    answer.insert("permit_id".into(), json!(id));
    answer.insert("chain_id".into(), json!(plan.chain));
    answer.insert("block".into(), json!(block));
    answer.insert("calldata_hash".into(), json!(calldata_hash));
    answer.insert("expires_at_ms".into(), json!(expires_at_ms));
    let tool = write.tool.name.value.clone();
    let action = PreparedAction {
        action_id: id.clone(),
        tool: tool.clone(),
        chain: plan.chain,
        block,
        calldata_hash: calldata_hash.clone(),
        expires_at_ms,
        trade: plan.trade.clone(),
    };
    state.record.note(write.who, EventKind::Prepared { call: write.call, action: Box::new(action) });
    let mut args = write.given.clone();
    args.remove("dry_run");
    state.actions.insert(id, FrozenAction { tool, args, plan, calldata_hash, prepared_at_ms: now_ms, expires_at_ms });
    Ok(answer)
}
