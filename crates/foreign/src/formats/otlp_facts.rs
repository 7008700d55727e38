//! Measurements of a trace that no transcript holds: tokens, latencies, models, versions, hashes of transactions.

use super::otlp::{TraceSpan, is_failed, trace_span};
use super::otlp_attributes::{SpanRole, span_role, tool_name};
use super::otlp_exported::{TRIAL_KEY, is_claim};
use super::otlp_trace::{ClaimTrust, read_trace};
use super::transaction_refs::{TransactionRef, transaction_refs};
use crate::problem::{LogPlace, LogProblem};
use crate::recording::LogRecording;
use model::ContentHash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Most entries of each list; a trace may have thousands of spans.
const MAX_LISTED: usize = 1_000;

/// Measurements of one trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceFacts {
    /// Nanoseconds since 1970, as the spans say.
    pub start_ns: u64,
    pub end_ns: u64,
    pub spans: u64,
    /// Spans that ended with an error.
    pub failed: u64,
    /// Agent of the outermost agent span.
    pub root_agent: Option<String>,
    pub agents: BTreeSet<String>,
    pub skills: BTreeSet<String>,
    pub chats: Vec<ChatFacts>,
    pub tools: Vec<ToolFacts>,
    /// Milliseconds of each agent span, by agent.
    pub agent_ms: Vec<(String, u64)>,
    /// Hash of each tool definition that a model was given.
    pub tool_schemas: BTreeMap<String, String>,
    /// Transactions that results, arguments or known attributes of tool spans name.
    pub transactions: Vec<TransactionRef>,
    /// Decisions, signatures and effects that spans state without being trusted.
    pub ignored_claims: u64,
    /// Transactions that were read from their chain. The caller fills this and the next two.
    pub decoded_transactions: u64,
    /// Reasons why effects of writes are not known.
    pub undecoded: Vec<String>,
    /// Statements of the trace that its chain contradicts.
    pub contradictions: Vec<String>,
    /// Spans that the collector refused because the trace had too many. The caller fills this.
    pub refused_spans: u64,
}

/// Call of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatFacts {
    pub agent: Option<String>,
    pub provider: Option<String>,
    /// Model that was asked for, and the one that answered.
    pub model: Option<String>,
    pub version: Option<String>,
    pub ms: u64,
    /// Absent if the span does not tell.
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
}

/// Call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolFacts {
    pub tool: String,
    pub ms: u64,
    pub failed: bool,
}

/// Trace with what its spans measure.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceReading {
    pub recording: LogRecording,
    pub facts: TraceFacts,
}

/// Reads the spans of one trace, each in OTLP/JSON, in any order.
///
/// # Errors
/// Fails if no span is about an agent, a model or a tool.
pub fn read_spans(trace: &str, spans: Vec<Value>, at: &LogPlace, trust: ClaimTrust) -> Result<TraceReading, LogProblem> {
    let spans: Vec<TraceSpan> = spans.into_iter().filter_map(trace_span).map(|(_, span)| span).collect();
    let mut facts = trace_facts(&spans);
    if trust == ClaimTrust::Ignored {
        facts.ignored_claims = spans.iter().map(claims_of).sum();
    }
    let recording = read_trace(trace, spans, at, trust).map_err(|what| LogProblem::new(at, what, "the trace was left out"))?;
    Ok(TraceReading { recording, facts })
}

/// Returns the number of statements of a span that only an observer could make.
fn claims_of(span: &TraceSpan) -> u64 {
    let events = span.written.get("events").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    events.iter().filter(|event| is_claim(event)).count() as u64 + u64::from(span.attributes.contains_key(TRIAL_KEY))
}

/// Measures the spans of a trace.
fn trace_facts(spans: &[TraceSpan]) -> TraceFacts {
    let mut facts = TraceFacts {
        start_ns: spans.iter().map(|span| span.start).filter(|start| *start > 0).min().unwrap_or(0),
        end_ns: spans.iter().map(|span| span.end).max().unwrap_or(0),
        spans: spans.len() as u64,
        failed: spans.iter().filter(|span| is_failed(span)).count() as u64,
        ..TraceFacts::default()
    };
    let by_id: BTreeMap<&str, &TraceSpan> = spans.iter().map(|span| (span.id.as_str(), span)).collect();
    for span in spans {
        match span_role(&span.name, &span.attributes) {
            SpanRole::Agent => add_agent(&mut facts, span),
            SpanRole::Chat => add_chat(&mut facts, span, &by_id),
            SpanRole::Tool => add_tool(&mut facts, span),
            SpanRole::Other => {}
        }
        let skill = ["gen_ai.skill.name", "bardo_eval.skill"].iter().find_map(|key| text(&span.attributes, key));
        if let Some(skill) = skill.filter(|_| facts.skills.len() < MAX_LISTED) {
            facts.skills.insert(skill);
        }
    }
    facts
}

fn text(attributes: &Map<String, Value>, key: &str) -> Option<String> {
    attributes.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(crate::recording::shorten)
}

fn first_text(attributes: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| text(attributes, key))
}

fn first_count(attributes: &Map<String, Value>, keys: &[&str]) -> Option<u64> {
    let count = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    keys.iter().find_map(|key| attributes.get(*key)).and_then(count)
}

fn milliseconds(span: &TraceSpan) -> u64 {
    span.end.saturating_sub(span.start) / 1_000_000
}

fn agent_name(span: &TraceSpan) -> String {
    let named = first_text(&span.attributes, &["gen_ai.agent.name", "agent.name", "traceloop.entity.name"]);
    named.unwrap_or_else(|| crate::recording::shorten(span.name.strip_prefix("invoke_agent ").unwrap_or(&span.name)))
}

fn add_agent(facts: &mut TraceFacts, span: &TraceSpan) {
    if facts.agent_ms.len() >= MAX_LISTED {
        return;
    }
    let name = agent_name(span);
    facts.agent_ms.push((name.clone(), milliseconds(span)));
    if span.parent.is_none() || facts.root_agent.is_none() {
        facts.root_agent = Some(name.clone());
    }
    facts.agents.insert(name);
}

fn add_chat(facts: &mut TraceFacts, span: &TraceSpan, by_id: &BTreeMap<&str, &TraceSpan>) {
    if facts.chats.len() >= MAX_LISTED {
        return;
    }
    let own = &span.attributes;
    // The agent is the nearest one around the span; a trace may have cycles, so the way is bounded.
    let around = std::iter::successors(Some(span), |span| by_id.get(span.parent.as_deref()?).copied()).take(64);
    let agent = around.into_iter().find(|span| span_role(&span.name, &span.attributes) == SpanRole::Agent).map(agent_name);
    facts.chats.push(ChatFacts {
        agent,
        provider: first_text(own, &["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"]),
        model: first_text(own, &["gen_ai.request.model", "llm.model_name", "ai.model.id", "gen_ai.response.model"]),
        version: first_text(own, &["gen_ai.response.model", "llm.model_name", "ai.response.model"]),
        ms: milliseconds(span),
        input_tokens: first_count(
            own,
            &["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.promptTokens"],
        ),
        output_tokens: first_count(
            own,
            &["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion", "ai.usage.completionTokens"],
        ),
        cache_read_tokens: first_count(
            own,
            &["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read"],
        )
        .unwrap_or(0),
        cache_write_tokens: first_count(
            own,
            &[
                "gen_ai.usage.cache_creation.input_tokens",
                "gen_ai.usage.cache_write.input_tokens",
                "gen_ai.usage.cache_creation_input_tokens",
            ],
        )
        .unwrap_or(0),
    });
    let definitions = own.get("gen_ai.tool.definitions");
    let parsed = definitions.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    for tool in parsed.as_ref().or(definitions).and_then(Value::as_array).map_or(&[][..], Vec::as_slice).iter().take(MAX_LISTED) {
        let function = tool.get("function").unwrap_or(tool);
        if let Some(name) = function.get("name").and_then(Value::as_str) {
            let schema = function.get("parameters").or_else(|| function.get("input_schema")).unwrap_or(&Value::Null);
            facts.tool_schemas.insert(crate::recording::shorten(name), ContentHash::of_json(schema).short().to_owned());
        }
    }
}

fn add_tool(facts: &mut TraceFacts, span: &TraceSpan) {
    if facts.tools.len() >= MAX_LISTED {
        return;
    }
    let Some(tool) = tool_name(&span.name, &span.attributes, true) else { return };
    let tool = crate::recording::shorten(&tool);
    let free = MAX_LISTED.saturating_sub(facts.transactions.len());
    facts.transactions.extend(transaction_refs(&tool, &span.attributes).into_iter().take(free));
    facts.tools.push(ToolFacts { tool, ms: milliseconds(span), failed: is_failed(span) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn span(id: u64, parent: u64, name: &str, ms: (u64, u64), attributes: Value) -> Value {
        let pairs: Vec<Value> = attributes
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| {
                let kind = if value.is_string() { "stringValue" } else { "intValue" };
                json!({ "key": key, "value": { kind: value } })
            })
            .collect();
        json!({
            "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{id:016x}"), "name": name,
            "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
            "startTimeUnixNano": (ms.0 * 1_000_000).to_string(), "endTimeUnixNano": (ms.1 * 1_000_000).to_string(), "attributes": pairs,
        })
    }

    #[test]
    fn facts_are_read_from_every_family_of_attributes() {
        let hash = format!("0x{}", "ab".repeat(32));
        let definitions = json!([{ "type": "function", "name": "swap", "parameters": { "type": "object" } }]).to_string();
        let result = json!({ "status": "ok", "chain_id": 8453, "tx_hash": hash }).to_string();
        let spans = vec![
            span(
                1,
                0,
                "invoke_agent trader",
                (100, 900),
                json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "trader" }),
            ),
            span(
                2,
                1,
                "chat m",
                (110, 310),
                json!({
                    "gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m", "gen_ai.response.model": "m-1",
                    "gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 3, "gen_ai.tool.definitions": definitions,
                }),
            ),
            span(3, 1, "llm", (320, 400), json!({ "openinference.span.kind": "LLM", "llm.model_name": "n", "llm.token_count.prompt": 7 })),
            span(
                4,
                1,
                "execute_tool swap",
                (410, 800),
                json!({
                    "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "swap", "gen_ai.tool.call.result": result, "error.type": "x",
                }),
            ),
        ];
        let at = LogPlace { file: "f".into(), item: 1 };
        let facts = read_spans("t", spans, &at, ClaimTrust::Ignored).unwrap().facts;
        assert_eq!((facts.start_ns, facts.end_ns, facts.spans, facts.failed), (100_000_000, 900_000_000, 4, 1));
        assert_eq!((facts.root_agent.as_deref(), facts.chats.len()), (Some("trader"), 2));
        let chat = &facts.chats[0];
        assert_eq!((chat.agent.as_deref(), chat.provider.as_deref(), chat.ms), (Some("trader"), Some("openai"), 200));
        assert_eq!((chat.version.as_deref(), chat.input_tokens, chat.output_tokens), (Some("m-1"), Some(12), Some(3)));
        assert_eq!((facts.chats[1].input_tokens, facts.chats[1].output_tokens), (Some(7), None));
        assert_eq!(facts.tools, [ToolFacts { tool: "swap".into(), ms: 390, failed: true }]);
        assert_eq!(facts.transactions, [TransactionRef { hash, chain: Some(8453), chain_name: None, tool: "swap".into(), is_sent: true }]);
        assert_eq!(facts.tool_schemas.len(), 1);
        let stored = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<TraceFacts>(&stored).unwrap(), facts);
    }
}
