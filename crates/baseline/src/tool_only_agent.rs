//! Agent with tools only: its first move with tool calls is the answer.

use crate::agent_state::AgentState;
use crate::baseline_index::{BaselineIndex, KnownTool};
use crate::mentions::ParsedMessage;
use crate::questions::ask_for_missing;
use crate::rank::{RankedTool, UserRequest, rank_tools};
use model::transcript::{Move, ToolCall};
use model::view::View;
use serde_json::Value;

/// Minimum share of the message that a tool's file must cover.
const MIN_COVERAGE: f64 = 0.12;
/// Score lead of an unavailable tool above which no available tool is chosen.
const MIN_LEAD_ELSEWHERE: f64 = 0.35;

pub(crate) fn next(state: &mut AgentState, index: &BaselineIndex, view: &View<'_>) -> Move {
    let turns: Vec<&ParsedMessage> = state.turns.iter().collect();
    let Some(wanted) = turns.first() else { return Move::Stop };
    let request = UserRequest { wanted, turns: &turns };
    let tools = index.known_tools(&view.context.tools);
    let best = match state.pending.and_then(|pending| index.tools.get(pending)) {
        // Answers to questions rarely repeat the request.
        Some(asked) => rank_tools(index, &[asked], request).into_iter().next(),
        None => choose_tool(index, &tools, request),
    };
    let Some(best) = best else { return Move::Say("None of the tools I have here fits that, so I have done nothing.".to_owned()) };
    if state.pending.is_none() && !best.filled.missing.is_empty() && best.tool.writes {
        state.pending = index.tool_names.get(&best.tool.name).copied();
        return Move::Ask(ask_for_missing(&best.tool.shape, &best.filled.missing));
    }
    state.pending = None;
    Move::Call(tool_calls(&best))
}

/// Returns the requested tool, if it is among the available ones.
pub(crate) fn choose_tool<'m>(index: &'m BaselineIndex, tools: &[&'m KnownTool], request: UserRequest<'_>) -> Option<RankedTool<'m>> {
    let best = rank_tools(index, tools, request).into_iter().next()?;
    let all: Vec<&KnownTool> = index.tools.iter().collect();
    let anywhere = rank_tools(index, &all, request).into_iter().next()?;
    let elsewhere = anywhere.tool.name != best.tool.name && anywhere.score - best.score > MIN_LEAD_ELSEWHERE;
    (best.covered >= MIN_COVERAGE && !elsewhere).then_some(best)
}

/// Returns the call, and another one for each extra value of a single-value parameter.
fn tool_calls(best: &RankedTool<'_>) -> Vec<ToolCall> {
    let first = ToolCall { tool: best.tool.name.clone(), args: Value::Object(best.filled.args.clone()) };
    let more = best.filled.repeat_values.iter().map(|(name, value)| {
        let mut args = best.filled.args.clone();
        args.insert(name.clone(), value.clone());
        ToolCall { tool: best.tool.name.clone(), args: Value::Object(args) }
    });
    std::iter::once(first).chain(more).collect()
}
