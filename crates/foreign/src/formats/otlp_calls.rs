//! Calls of tools in a trace. One call may have a span of the agent, one of the MCP client and one of the MCP server.

use super::otlp_attributes::{
    ARGUMENT_ENDINGS, ARGUMENT_KEYS, RESULT_ENDINGS, RESULT_KEYS, SpanRole, first_of, is_mcp_call, mcp_params, tool_name,
};
use super::otlp_messages::plain_text;
use super::otlp_span::{OtlpSpan, failure_text, is_failed};
use super::same_values::same_value;
use crate::content::{arguments, content_text, result_value};
use model::transcript::ToolAnswer;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Most spans between a call and the span that repeats it; parent links may form circles.
const MAX_STEPS: usize = 64;

/// Spans that repeat the call of a span around them.
#[derive(Debug, Default)]
pub(super) struct LayeredCalls {
    /// Repeating span, by the span that it repeats, and the other way round.
    below: BTreeMap<usize, usize>,
    above: BTreeMap<usize, usize>,
}

impl LayeredCalls {
    /// Finds the spans of MCP that repeat a call of the same tool around them. A call has at most one such span per layer, and its
    /// arguments are the same; others are calls of their own, so that no call can be hidden below another one.
    pub(super) fn new(spans: &[OtlpSpan], roles: &[SpanRole]) -> Self {
        let mut layered = Self::default();
        let is_mcp = |at: usize| is_mcp_call(&spans[at].name, &spans[at].attributes);
        if !(0..spans.len()).any(is_mcp) {
            return layered;
        }
        let by_id: BTreeMap<&str, usize> = spans.iter().enumerate().map(|(at, span)| (span.id.as_str(), at)).collect();
        let mut order: Vec<usize> = (0..spans.len()).filter(|at| roles[*at] == SpanRole::Tool).collect();
        order.sort_by_key(|at| spans[*at].start);
        let name = |at: usize| tool_name(&spans[at].name, &spans[at].attributes, true);
        for at in order {
            let parent = |at: usize| by_id.get(spans[at].parent.as_deref()?).copied();
            let around = std::iter::successors(parent(at), |at| parent(*at)).take(MAX_STEPS).find(|at| roles[*at] != SpanRole::Other);
            let Some(outer) = around.filter(|outer| roles[*outer] == SpanRole::Tool) else { continue };
            let is_repeated = (is_mcp(at) || is_mcp(outer))
                && name(at).is_some()
                && name(at) == name(outer)
                && !layered.below.contains_key(&outer)
                && layered.first_of(outer) != at
                && args_agree(&spans[at], &spans[outer]);
            if is_repeated {
                layered.below.insert(outer, at);
                layered.above.insert(at, outer);
            }
        }
        layered
    }

    /// Returns the span that a span repeats in the end.
    fn first_of(&self, at: usize) -> usize {
        std::iter::successors(Some(at), |at| self.above.get(at).copied()).last().unwrap_or(at)
    }

    /// Returns whether the span repeats a call that another span records.
    pub(super) fn is_repeated(&self, at: usize) -> bool {
        self.above.contains_key(&at)
    }

    /// Returns the spans of a call, the outermost first.
    fn layers<'s>(&'s self, spans: &'s [OtlpSpan], at: usize) -> impl Iterator<Item = &'s OtlpSpan> + Clone {
        std::iter::successors(Some(at), |at| self.below.get(at).copied()).map(|at| &spans[at])
    }

    /// Returns the arguments of a call, from the first of its spans that has them.
    pub(super) fn arguments(&self, spans: &[OtlpSpan], at: usize) -> Value {
        self.layers(spans, at).find_map(written_args).unwrap_or_else(|| arguments(None))
    }

    /// Returns the answer of a call; none if its spans have neither a result nor an error.
    pub(super) fn answer(&self, spans: &[OtlpSpan], at: usize) -> Option<ToolAnswer> {
        self.layers(spans, at).find_map(span_answer)
    }

    /// Returns the attributes of all spans of a call, with its arguments and its result under the names of the conventions.
    pub(super) fn attributes(&self, spans: &[OtlpSpan], at: usize) -> Map<String, Value> {
        let layers: Vec<&OtlpSpan> = self.layers(spans, at).collect();
        let mut merged: Map<String, Value> = Map::new();
        for span in layers.iter().rev() {
            merged.extend(span.attributes.clone());
        }
        if layers.len() > 1 || is_mcp_call(&spans[at].name, &spans[at].attributes) {
            if let Some(args) = layers.iter().find_map(|span| written_args(span)) {
                merged.insert(ARGUMENT_KEYS[0].to_owned(), args);
            }
            if let Some(ToolAnswer::Result(result)) = self.answer(spans, at) {
                merged.insert(RESULT_KEYS[0].to_owned(), result);
            }
        }
        merged
    }
}

fn written_args(span: &OtlpSpan) -> Option<Value> {
    let own = first_of(&span.attributes, ARGUMENT_KEYS, ARGUMENT_ENDINGS).map(|args| arguments(Some(args)));
    own.or_else(|| mcp_params(&span.attributes).and_then(|params| params.get("arguments").cloned()))
}

fn args_agree(one: &OtlpSpan, other: &OtlpSpan) -> bool {
    written_args(one).zip(written_args(other)).is_none_or(|(one, other)| same_value(&one, &other))
}

/// Returns the answer that a span records; none if it has neither a result nor an error.
fn span_answer(span: &OtlpSpan) -> Option<ToolAnswer> {
    if is_failed(span) {
        return Some(ToolAnswer::Error { code: plain_text(span.attributes.get("error.type")), message: failure_text(span) });
    }
    let result = result_value(plain_text(Some(first_of(&span.attributes, RESULT_KEYS, RESULT_ENDINGS)?)));
    Some(if is_mcp_call(&span.name, &span.attributes) { mcp_answer(result) } else { ToolAnswer::Result(result) })
}

/// Returns the answer in a result of MCP, which is a list of blocks. Anything else is the answer itself.
fn mcp_answer(result: Value) -> ToolAnswer {
    let content = result.get("content").filter(|content| content.is_array());
    let text = content_text(content).text;
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    match (result.get("isError"), structured) {
        (Some(Value::Bool(true)), _) => ToolAnswer::Error { code: "tool_error".to_owned(), message: text },
        (_, Some(value)) => ToolAnswer::Result(value.clone()),
        (_, None) if content.is_some() && !text.is_empty() => ToolAnswer::Result(result_value(text)),
        (_, None) => ToolAnswer::Result(result),
    }
}
