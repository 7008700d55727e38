//! Dispatches a tool call: checks its arguments, records the addresses it names and routes it by operation.

use super::args::scalar_text;
use super::case_fixtures::recorded_answer;
use super::foreign_source::ForeignError;
use super::prepare::prepare;
use super::reads::read;
use super::simulate::simulate;
use super::submit::{confirm, submit};
use super::tool_error::ToolError;
use super::tool_request::{ToolRequest, check_schema};
use super::trial_state::TrialState;
use super::world_template::WorldTemplate;
use crate::ActingAgent;
use model::transcript::{ResolvedAddress, ToolAnswer, ToolErrorCode};
use model::{AddressText, EventKind, OpClass, ParamKind, Tool};
use serde_json::{Map, Value, json};

/// Maximum size of arguments in bytes; later stages copy them.
const LONGEST_ARGS: usize = 64 * 1024;

/// Tool call before validation.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawRequest<'a> {
    pub who: &'a ActingAgent,
    pub call: u32,
    pub tool: &'a str,
    pub args: &'a Value,
}

pub(super) async fn answer(template: &WorldTemplate, state: &mut TrialState, raw: RawRequest<'_>) -> Result<ToolAnswer, ToolError> {
    let tool = template.workspace().tool(raw.tool);
    let tool = tool.ok_or_else(|| ToolError::new(ToolErrorCode::UnknownTool, "unknown tool"))?;
    let Value::Object(given) = raw.args else {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, "arguments must be an object"));
    };
    if approximate_size(raw.args) > LONGEST_ARGS {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, format!("arguments exceed {LONGEST_ARGS} bytes")));
    }
    let given = fill_from_action(state, tool, given);
    check_schema(tool, &given)?;
    let request = ToolRequest { who: raw.who, call: raw.call, tool, given: &given };
    resolve_addresses(state, &request).await;
    if let Some(recorded) = recorded_answer(template.workspace(), &state.setup.case_fixtures, &request) {
        state.record.note(raw.who, EventKind::FixtureUsed { call: raw.call, fixture: recorded.fixture });
        return Ok(recorded.answer);
    }
    if tool.is_foreign() && !template.file().fixtures.contains_key(tool.name.as_str()) {
        return call_foreign(state, &request).await;
    }
    if template.workspace().policy.is_none() {
        return answer_from_fixtures(template, state, &request).await;
    }
    route(template, state, &request).await
}

async fn route(template: &WorldTemplate, state: &mut TrialState, request: &ToolRequest<'_>) -> Result<ToolAnswer, ToolError> {
    match request.tool.acts.class() {
        OpClass::Quote => prepare(template, state, request).await,
        OpClass::Simulate => simulate(template, state, request).await,
        OpClass::Read => read(template, state, request).await,
        OpClass::Transfer
        | OpClass::Approve
        | OpClass::Permit
        | OpClass::Swap
        | OpClass::AddPosition
        | OpClass::RemovePosition
        | OpClass::VaultIn
        | OpClass::VaultOut
        | OpClass::VenueIn
        | OpClass::VenueOut
        | OpClass::Bridge
        | OpClass::Register
        | OpClass::Configure
        | OpClass::Remember
        | OpClass::PassThrough => {
            if request.is_dry_run() {
                prepare(template, state, request).await
            } else {
                submit(template, state, request).await
            }
        }
    }
}

/// Answers a call in a workspace without chains: the answers of the world are all there is, for writes too.
async fn answer_from_fixtures(
    template: &WorldTemplate,
    state: &mut TrialState,
    request: &ToolRequest<'_>,
) -> Result<ToolAnswer, ToolError> {
    confirm(template, state, request, Map::new())?;
    read(template, state, request).await
}

/// Fills missing required arguments of a write from the prepared action it names.
fn fill_from_action(state: &TrialState, tool: &Tool, given: &Map<String, Value>) -> Map<String, Value> {
    let mut all = given.clone();
    let frozen = given.get("action_id").and_then(Value::as_str).and_then(|id| state.actions.get(id));
    if let Some(frozen) = frozen.filter(|_| tool.writes()) {
        for (name, param) in &tool.params {
            if param.required
                && !all.contains_key(name)
                && let Some(value) = frozen.args.get(name)
            {
                all.insert(name.clone(), value.clone());
            }
        }
    }
    all
}

/// Records the known party and code presence of every address in a call.
async fn resolve_addresses(state: &mut TrialState, request: &ToolRequest<'_>) {
    let args = request.args();
    let named: Vec<(String, AddressText)> = args
        .of_kind(|kind| matches!(kind, ParamKind::Address(_)) || matches!(kind, ParamKind::Token(_)))
        .filter_map(|(name, _, value)| Some((name.to_owned(), AddressText::parse(&scalar_text(value))?)))
        .collect();
    if named.is_empty() {
        return;
    }
    let Ok(id) = state.chains.chain_of(request.tool, &args) else { return };
    let mut addresses = vec![];
    for (param, text) in named {
        let Ok(chain) = state.chain(id).await else { return };
        let has_code = chain.node().code(text.address).await.is_ok_and(|code| !code.is_empty());
        let party = chain.address_book().party(text.address);
        addresses.push(ResolvedAddress { param, text: text.text, chain: id, party, has_code });
    }
    state.record.note(request.who, EventKind::Resolved { call: request.call, addresses });
}

async fn call_foreign(state: &mut TrialState, request: &ToolRequest<'_>) -> Result<ToolAnswer, ToolError> {
    match state.setup.foreign.call(&request.tool.name, request.given).await {
        Ok(value) => Ok(ToolAnswer::Result(value)),
        Err(ForeignError::Tool(message)) => Err(ToolError::new(ToolErrorCode::ExternalToolFailed, message)),
        // A call that obeys an attack was never recorded. The call itself is judged, so it must not abort the trial.
        Err(ForeignError::NotRecorded(_) | ForeignError::NotAnswered(_)) if state.setup.accepts_writes && request.tool.writes() => {
            Ok(ToolAnswer::Result(json!({ "status": "accepted" })))
        }
        Err(ForeignError::NotRecorded(why)) => {
            let why = if request.tool.writes() { format!("{why}; it writes, so better answer it in worlds/") } else { why };
            state.missing_recording.get_or_insert_with(|| why.clone());
            Err(ToolError::new(ToolErrorCode::ExternalToolUnavailable, why))
        }
        Err(ForeignError::NotAnswered(why) | ForeignError::Harness(why)) => {
            state.harness_fault.get_or_insert_with(|| why.clone());
            Err(ToolError::new(ToolErrorCode::ExternalToolUnavailable, why))
        }
    }
}

/// Estimates the serialized size of a value in bytes without serializing it.
fn approximate_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| approximate_size(item) + 1).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + approximate_size(value) + 4).sum(),
    }
}
