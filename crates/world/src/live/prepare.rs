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
use model::{EventKind, PrepareTarget, PreparedWrite, Workspace};
use serde_json::{Map, Value, json};

pub(super) async fn prepare(template: &WorldTemplate, state: &mut TrialState, request: &ToolRequest<'_>) -> Result<ToolAnswer, ToolError> {
    let PreparedWrite { tool, args: fixed, is_nested } = target(template.workspace(), request)?;
    let args = if is_nested {
        check_schema(tool, &fixed)?;
        ToolArgs::new(tool, &fixed)
    } else {
        request.args()
    };
    let chain = state.chains.chain_of(tool, &args)?;
    let plan = operations::plan_operation(&mut state.builder(chain).await?, tool, &args).await?;
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

/// Returns the write that a request prepares: that of a quote or preview, or the requested one itself in a dry run.
fn target<'a>(workspace: &'a Workspace, request: &ToolRequest<'a>) -> Result<PreparedWrite<'a>, ToolError> {
    match &request.tool.prepares {
        None => {
            let args = workspace.executed_args(request.tool, request.tool, request.given);
            Ok(PreparedWrite { tool: request.tool, args, is_nested: false })
        }
        Some(target) => workspace.prepared_write(request.tool, request.given).ok_or_else(|| unknown_target(target, request)),
    }
}

fn unknown_target(target: &PrepareTarget, request: &ToolRequest<'_>) -> ToolError {
    let unknown = |name: &str| ToolError::new(ToolErrorCode::UnknownPreparedTool, format!("unknown tool {name}"));
    match target {
        PrepareTarget::Tool(name) => unknown(name),
        PrepareTarget::ByParam { word, tools, .. } => {
            let chosen = request.args().text(word).unwrap_or_default();
            let none = || ToolError::new(ToolErrorCode::InvalidArguments, format!("{word}: {} cannot be prepared", quote_value(&chosen)));
            tools.get(&chosen).map_or_else(none, |name| unknown(name))
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
