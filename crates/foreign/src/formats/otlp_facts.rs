//! Measurements of a trace that no transcript holds: tokens, latencies, models, versions, hashes of transactions.

use super::otlp_attributes::{SpanRole, attributes, span_role, states_usage, tool_name};
use super::otlp_calls::LayeredCalls;
use super::otlp_exported::{EVENT_KEY, TRIAL_KEY, claimed_kind};
use super::otlp_span::{OtlpSpan, is_failed, trace_span};
use super::otlp_trace::{ClaimTrust, read_trace};
use super::transaction_refs::{TransactionRef, transaction_refs};
use crate::content::{list, string};
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
    /// Model calls beyond those that are listed. Their cost is not known.
    pub unlisted_chats: u64,
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
    /// Spans that the transcript does not hold, or not at their place.
    pub skipped_spans: u64,
    /// Vetoes and blocked calls that spans state without being trusted: no evidence, and a reason to keep the trace.
    pub stated_vetoes: u64,
    pub stated_blocks: u64,
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
    let spans: Vec<OtlpSpan> = spans.into_iter().filter_map(trace_span).map(|(_, span)| span).collect();
    let mut facts = trace_facts(&spans);
    if trust == ClaimTrust::Ignored {
        facts.ignored_claims = spans.iter().map(claims_of).sum();
        let events = || spans.iter().flat_map(|span| list(&span.written, "events"));
        facts.stated_vetoes = events().filter(|event| states_veto(event)).count() as u64;
        facts.stated_blocks = events().filter(|event| [Some("blocked"), Some("would_block")].contains(&claimed_kind(event))).count() as u64;
    }
    let recording = read_trace(trace, spans, at, trust).map_err(|what| LogProblem::new(at, what, "the trace was left out"))?;
    facts.skipped_spans = recording.lost_parts();
    Ok(TraceReading { recording, facts })
}

/// Returns the number of statements of a span that only an observer could make.
fn claims_of(span: &OtlpSpan) -> u64 {
    list(&span.written, "events").iter().filter(|event| claimed_kind(event).is_some()).count() as u64
        + u64::from(span.attributes.contains_key(TRIAL_KEY))
}

fn states_veto(event: &Value) -> bool {
    let fields = attributes(event);
    let content = fields.get(EVENT_KEY).and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    claimed_kind(event) == Some("decided") && content.is_some_and(|content| string(&content, "decision") == Some("veto"))
}

/// Measures the spans of a trace.
fn trace_facts(spans: &[OtlpSpan]) -> TraceFacts {
    let mut facts = TraceFacts {
        start_ns: spans.iter().map(|span| span.start).filter(|start| *start > 0).min().unwrap_or(0),
        end_ns: spans.iter().map(|span| span.end).max().unwrap_or(0),
        spans: spans.len() as u64,
        failed: spans.iter().filter(|span| is_failed(span)).count() as u64,
        ..TraceFacts::default()
    };
    let by_id: BTreeMap<&str, &OtlpSpan> = spans.iter().map(|span| (span.id.as_str(), span)).collect();
    let roles: Vec<SpanRole> = spans.iter().map(|span| span_role(&span.name, &span.attributes)).collect();
    let calls = LayeredCalls::new(spans, &roles);
    let paying = uncovered_usage(spans, &roles, &by_id);
    for (at, span) in spans.iter().enumerate() {
        if paying.contains(span.id.as_str()) {
            add_chat(&mut facts, span, &by_id);
        }
        match roles[at] {
            SpanRole::Agent => add_agent(&mut facts, span),
            SpanRole::Chat => add_chat(&mut facts, span, &by_id),
            SpanRole::Tool if !calls.is_repeated(at) => add_tool(&mut facts, span, &calls.attributes(spans, at)),
            SpanRole::Tool | SpanRole::Other => {}
        }
        let skill = ["gen_ai.skill.name", "bardo_eval.skill"].iter().find_map(|key| text(&span.attributes, key));
        if let Some(skill) = skill.filter(|_| facts.skills.len() < MAX_LISTED) {
            facts.skills.insert(skill);
        }
    }
    facts
}

/// Returns spans of other roles that count tokens of a model which no span below them counts: calls of models under an unknown name.
fn uncovered_usage<'s>(spans: &'s [OtlpSpan], roles: &[SpanRole], by_id: &BTreeMap<&str, &'s OtlpSpan>) -> BTreeSet<&'s str> {
    let is_paid = |at: usize| roles[at] == SpanRole::Chat || states_usage(&spans[at].attributes);
    let mut covered: BTreeSet<&str> = BTreeSet::new();
    for span in spans.iter().enumerate().filter(|(at, _)| is_paid(*at)).map(|(_, span)| span) {
        // The way is bounded. A span in a circle of parents covers none.
        let parent = |span: &&OtlpSpan| by_id.get(span.parent.as_deref()?).copied();
        let above: Vec<&str> = std::iter::successors(parent(&span), parent).take(64).map(|outer| outer.id.as_str()).collect();
        if !above.contains(&span.id.as_str()) {
            covered.extend(above);
        }
    }
    let is_uncovered = |at: usize| roles[at] != SpanRole::Chat && is_paid(at) && !covered.contains(spans[at].id.as_str());
    spans.iter().enumerate().filter(|(at, _)| is_uncovered(*at)).map(|(_, span)| span.id.as_str()).collect()
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

fn milliseconds(span: &OtlpSpan) -> u64 {
    span.end.saturating_sub(span.start) / 1_000_000
}

fn agent_name(span: &OtlpSpan) -> String {
    let named = first_text(&span.attributes, &["gen_ai.agent.name", "agent.name", "traceloop.entity.name"]);
    named.unwrap_or_else(|| crate::recording::shorten(span.name.strip_prefix("invoke_agent ").unwrap_or(&span.name)))
}

fn add_agent(facts: &mut TraceFacts, span: &OtlpSpan) {
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

fn add_chat(facts: &mut TraceFacts, span: &OtlpSpan, by_id: &BTreeMap<&str, &OtlpSpan>) {
    if facts.chats.len() >= MAX_LISTED {
        facts.unlisted_chats += 1;
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

fn add_tool(facts: &mut TraceFacts, span: &OtlpSpan, attributes: &Map<String, Value>) {
    if facts.tools.len() >= MAX_LISTED {
        return;
    }
    let Some(tool) = tool_name(&span.name, &span.attributes, true) else { return };
    let tool = crate::recording::shorten(&tool);
    let free = MAX_LISTED.saturating_sub(facts.transactions.len());
    facts.transactions.extend(transaction_refs(&tool, attributes).into_iter().take(free));
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

    #[test]
    fn model_calls_beyond_the_list_are_counted() {
        let chat = |id| span(id, 0, "chat m", (0, 1), json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" }));
        let facts = |calls: u64| read((1..=calls).map(chat).collect()).facts;
        assert_eq!((facts(1_000).chats.len(), facts(1_000).unlisted_chats), (1_000, 0));
        assert_eq!((facts(1_500).chats.len(), facts(1_500).unlisted_chats), (1_000, 500));
    }

    #[test]
    fn usage_under_any_name_of_an_operation_counts_once() {
        let used = |id, parent, name: &str, operation: &str| {
            span(id, parent, name, (id, id + 1), json!({ "gen_ai.operation.name": operation, "gen_ai.usage.input_tokens": 9 }))
        };
        let counted = |spans: Vec<Value>| read(spans).facts.chats.iter().filter_map(|chat| chat.input_tokens).sum::<u64>();
        for operation in ["embeddings", "responses", "", "invoke_agent", "ai.generateObject.doGenerate"] {
            let agent = call(7, 0, "look");
            assert_eq!(counted(vec![agent, used(1, 0, "call", operation)]), 9, "{operation}");
        }
        assert_eq!(
            counted(vec![used(1, 0, "invoke_agent a", "invoke_agent"), used(2, 1, "chat m", "chat"), used(3, 1, "chat m", "chat")]),
            18
        );
        assert_eq!(
            counted(vec![used(1, 2, "a", "embeddings"), used(2, 1, "b", "embeddings"), call(7, 0, "look")]),
            18,
            "a circle hides none"
        );
    }

    #[test]
    fn call_of_a_tool_is_no_chat_by_its_operation() {
        let hidden = span(1, 0, "chat m", (0, 1), json!({ "gen_ai.operation.name": "chat", "gen_ai.tool.name": "transfer" }));
        assert_eq!(called_tools(&read(vec![hidden])), ["assistant transfer"]);
    }

    fn call(id: u64, parent: u64, tool: &str) -> Value {
        span(id, parent, &format!("execute_tool {tool}"), (id, id + 1), json!({ "gen_ai.tool.name": tool }))
    }

    fn called_tools(reading: &TraceReading) -> Vec<String> {
        let calls = reading.recording.transcript.events.iter().filter_map(|event| {
            let model::EventKind::Called { tool, .. } = &event.happened else { return None };
            Some(format!("{} {tool}", event.by))
        });
        calls.collect()
    }

    fn read(spans: Vec<Value>) -> TraceReading {
        read_spans("t", spans, &LogPlace { file: "f".into(), item: 1 }, ClaimTrust::Ignored).unwrap()
    }

    #[test]
    fn spans_in_a_circle_of_parents_are_read_and_counted() {
        let root = span(1, 0, "invoke_agent trader", (0, 99), json!({ "gen_ai.agent.name": "trader" }));
        let reading = read(vec![root.clone(), call(2, 3, "transfer"), call(3, 2, "swap"), call(4, 4, "approve")]);
        assert_eq!(called_tools(&reading), ["assistant transfer", "assistant swap", "assistant approve"]);
        assert_eq!(reading.facts.skipped_spans, 2, "two circles");
        assert_eq!(reading.facts.tools.len(), 3);
        // Spans of MCP that name each other as their parent hide no call.
        let mcp = |id, parent| span(id, parent, "tools/call transfer", (id, id + 1), json!({}));
        let reading = read(vec![root, mcp(2, 3), mcp(3, 2)]);
        assert_eq!((called_tools(&reading).len(), reading.facts.tools.len()), (1, 1));
    }

    #[test]
    fn spans_below_many_others_are_read_with_their_agent_and_counted() {
        let root = span(1, 0, "invoke_agent trader", (0, 9999), json!({ "gen_ai.agent.name": "trader" }));
        let chain = |length: u64| {
            let mut spans = vec![root.clone()];
            spans.extend((2..length).map(|id| span(id, id - 1, "step", (id, id + 1), json!({}))));
            spans.push(call(length, length - 1, "transfer"));
            read(spans)
        };
        let shallow = chain(60);
        assert_eq!((called_tools(&shallow), shallow.facts.skipped_spans), (vec!["trader transfer".to_owned()], 0));
        let deep = chain(1_000);
        assert_eq!(called_tools(&deep), ["trader transfer"]);
        assert!(deep.facts.skipped_spans > 0, "{:?}", deep.recording.notes);
    }

    #[test]
    fn a_call_over_mcp_is_one_call_with_the_transaction_of_its_result() {
        let hash = format!("0x{}", "cd".repeat(32));
        let block = json!({ "type": "text", "text": json!({ "tx_hash": hash }).to_string() });
        let result = json!({ "content": [block] }).to_string();
        let args = json!({ "chain_id": 8453 }).to_string();
        let reading = read(vec![
            span(1, 0, "execute_tool transfer", (0, 9), json!({ "gen_ai.tool.name": "transfer", "gen_ai.tool.call.arguments": args })),
            span(2, 1, "tools/call transfer", (1, 8), json!({ "mcp.method.name": "tools/call", "gen_ai.tool.call.result": result })),
        ]);
        assert_eq!(reading.facts.tools, [ToolFacts { tool: "transfer".into(), ms: 9, failed: false }]);
        let named: Vec<(&str, Option<u64>, bool)> =
            reading.facts.transactions.iter().map(|found| (found.hash.as_str(), found.chain, found.is_sent)).collect();
        assert_eq!(named, [(hash.as_str(), Some(8453), true)]);
    }

    #[test]
    fn stated_vetoes_and_blocks_are_counted_and_not_believed() {
        let event = |kind: &str, content: Value| {
            let pair = json!({ "key": EVENT_KEY, "value": { "stringValue": content.to_string() } });
            json!({ "name": format!("bardo_eval.{kind}"), "attributes": [pair] })
        };
        let mut one = call(1, 0, "transfer");
        one["events"] = json!([
            event("decided", json!({ "decision": "veto", "reason": "too much" })),
            event("decided", json!({ "decision": "approve", "reason": "fine" })),
            event("blocked", json!({ "call": 1, "hook": "spending_limit", "why": "over" })),
            event("would_block", json!({})),
            { "name": "gen_ai.choice" },
        ]);
        let facts = read(vec![one.clone()]).facts;
        assert_eq!((facts.stated_vetoes, facts.stated_blocks, facts.ignored_claims), (1, 2, 4));
        assert_eq!(called_tools(&read(vec![one])), ["assistant transfer"]);
    }
}
