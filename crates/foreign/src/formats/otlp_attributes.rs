//! Attributes of OTLP/JSON spans as plain JSON, and the names that SDKs use for the same thing.

use serde_json::{Map, Value};

/// Returns attributes as a map. Texts that hold objects or lists of JSON stay texts.
pub(super) fn attributes(holder: &Value) -> Map<String, Value> {
    pairs(holder.get("attributes"))
}

fn pairs(list: Option<&Value>) -> Map<String, Value> {
    let pairs = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let pair = |pair: &Value| Some((pair.get("key")?.as_str()?.to_owned(), any_value(pair.get("value")?)));
    pairs.iter().filter_map(pair).collect()
}

/// Converts a value of OTLP. Whole numbers are texts in OTLP/JSON.
pub(super) fn any_value(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|members| members.iter().next()) else { return Value::Null };
    match kind.as_str() {
        "intValue" => inner.as_str().and_then(|text| text.parse::<i64>().ok()).map_or_else(|| inner.clone(), Value::from),
        "arrayValue" => {
            let values = inner.get("values").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            Value::Array(values.iter().map(any_value).collect())
        }
        "kvlistValue" => Value::Object(pairs(inner.get("values"))),
        _ => inner.clone(),
    }
}

/// Kind of a span, over all families of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanRole {
    Agent,
    Chat,
    Tool,
    Other,
}

/// Method of MCP that calls a tool. The names of its spans are the method and the tool.
const MCP_CALL: &str = "tools/call";

/// Returns whether a span is a call of a tool by the conventions of MCP.
pub(super) fn is_mcp_call(name: &str, attributes: &Map<String, Value>) -> bool {
    let is_named = || name.strip_prefix(MCP_CALL).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    attributes.get("mcp.method.name").and_then(Value::as_str) == Some(MCP_CALL) || is_named()
}

/// Returns the parameters of a request of MCP, which OpenLLMetry writes as a whole.
pub(super) fn mcp_params(attributes: &Map<String, Value>) -> Option<Value> {
    let request: Value = serde_json::from_str(attributes.get("mcp.request.argument")?.as_str()?).ok()?;
    let request = request.get("root").unwrap_or(&request);
    Some(request.get("params").unwrap_or(request).clone())
}

/// Returns the role of a span from the GenAI and MCP conventions, OpenInference, OpenLLMetry or the Vercel SDK.
pub(super) fn span_role(name: &str, attributes: &Map<String, Value>) -> SpanRole {
    let text = |key: &str| attributes.get(key).and_then(Value::as_str).map(str::to_lowercase);
    let kind = ["gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "llm.request.type", "ai.operationId"]
        .iter()
        .find_map(|key| text(key));
    let kind = kind.unwrap_or_else(|| name.split([' ', '.']).next().unwrap_or_default().to_lowercase());
    match kind.as_str() {
        _ if is_mcp_call(name, attributes) => SpanRole::Tool,
        // The call of a tool stays one under any name of its operation.
        _ if CALL_KEYS.iter().any(|key| attributes.contains_key(*key)) => SpanRole::Tool,
        "invoke_agent" | "create_agent" | "agent" => SpanRole::Agent,
        "chat" | "text_completion" | "generate_content" | "completion" | "llm" => SpanRole::Chat,
        "ai.generatetext.dogenerate" | "ai.streamtext.dostream" => SpanRole::Chat,
        "execute_tool" | "tool" | "ai.toolcall" => SpanRole::Tool,
        _ if tool_name(name, attributes, false).is_some() => SpanRole::Tool,
        _ => SpanRole::Other,
    }
}

/// Attributes that only the call of a tool has.
const CALL_KEYS: &[&str] = &["gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "ai.toolCall.id", "ai.toolCall.name"];
const TOOL_NAMES: &[&str] = &["gen_ai.tool.name", "tool.name", "tool_name", "function.name", "ai.toolCall.name", "agent.tool_name"];

/// Returns the name of the tool; if the span is known to be a call, also from the name of the span.
pub(super) fn tool_name(span: &str, attributes: &Map<String, Value>, is_call: bool) -> Option<String> {
    let named = TOOL_NAMES.iter().find_map(|key| attributes.get(*key)).and_then(Value::as_str);
    let entity = || attributes.get("traceloop.entity.name").and_then(Value::as_str);
    let is_mcp = is_call && is_mcp_call(span, attributes);
    let span = || span.strip_prefix("execute_tool ").unwrap_or(span);
    match named {
        Some(name) => Some(name.to_owned()),
        None if is_mcp => mcp_tool(span(), attributes),
        None if is_call => Some(entity().unwrap_or_else(span).to_owned()).filter(|name| !name.is_empty()),
        None => None,
    }
}

/// Returns the tool of an MCP span without an attribute for it.
fn mcp_tool(span: &str, attributes: &Map<String, Value>) -> Option<String> {
    let requested = || Some(mcp_params(attributes)?.get("name")?.as_str()?.to_owned());
    let named = span.strip_prefix(MCP_CALL).map(|rest| rest.trim().to_owned());
    named.filter(|name| !name.is_empty() && !name.starts_with('.')).or_else(requested)
}

/// Returns the first of some keys, else the first key with one of some endings.
pub(super) fn first_of<'a>(attributes: &'a Map<String, Value>, keys: &[&str], endings: &[&str]) -> Option<&'a Value> {
    let named = keys.iter().find_map(|key| attributes.get(*key));
    named.or_else(|| attributes.iter().find(|(key, _)| endings.iter().any(|ending| key.ends_with(ending))).map(|(_, value)| value))
}

/// Attributes that count the tokens of a model.
const USAGE_KEYS: &[&str] = &[
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.prompt_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.prompt",
    "llm.token_count.completion",
    "ai.usage.promptTokens",
    "ai.usage.completionTokens",
];

/// Returns whether a span counts the tokens of a model.
pub(super) fn states_usage(attributes: &Map<String, Value>) -> bool {
    USAGE_KEYS.iter().any(|key| attributes.contains_key(*key))
}

pub(super) const ARGUMENT_KEYS: &[&str] = &[
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.arguments",
    "ai.toolCall.args",
    "tool.parameters",
    "traceloop.entity.input",
    "input.value",
];
pub(super) const ARGUMENT_ENDINGS: &[&str] = &[".args", ".arguments", ".input"];
pub(super) const RESULT_KEYS: &[&str] = &[
    "gen_ai.tool.call.result",
    "gen_ai.tool.result",
    "ai.toolCall.result",
    "mcp.response.value",
    "traceloop.entity.output",
    "output.value",
];
pub(super) const RESULT_ENDINGS: &[&str] = &[".result", ".output"];
