//! A seat with nothing but tools: the first move that calls tools is the answer.

use super::agent_state::Frame;
use super::baseline_index::{KnownTool, Mind};
use super::mentions::Said;
use super::questions::ask;
use super::rank::{Ranked, Wish, ranked};
use model::seat::View;
use model::transcript::{Move, ToolCall};
use serde_json::Value;

/// Below this share of what was said, a tool's file does not speak of it.
const SPEAKS: f64 = 0.12;
/// A tool that is not here but fits so much better shows that none here is meant.
const ELSEWHERE: f64 = 0.35;

pub(super) fn next(frame: &mut Frame, mind: &Mind, view: &View<'_>) -> Move {
    let turns: Vec<&Said> = frame.turns.iter().collect();
    let Some(wanted) = turns.first() else { return Move::Stop };
    let wish = Wish { wanted, turns: &turns };
    let tools = mind.known(&view.seat.tools);
    let best = match frame.pending.and_then(|pending| mind.tools.get(pending)) {
        // An answer to a question seldom says again what is wanted.
        Some(asked) => ranked(mind, &[asked], wish).into_iter().next(),
        None => choose(mind, &tools, wish),
    };
    let Some(best) = best else { return Move::Say("None of the tools I have here fits that, so I have done nothing.".to_owned()) };
    if frame.pending.is_none() && !best.filled.missing.is_empty() && best.tool.writes {
        frame.pending = mind.tool_names.get(&best.tool.name).copied();
        return Move::Ask(ask(&best.tool.shape, &best.filled.missing));
    }
    frame.pending = None;
    Move::Call(calls(&best))
}

/// The tool that is meant, if one of these is.
pub(super) fn choose<'m>(mind: &'m Mind, tools: &[&'m KnownTool], wish: Wish<'_>) -> Option<Ranked<'m>> {
    let best = ranked(mind, tools, wish).into_iter().next()?;
    let all: Vec<&KnownTool> = mind.tools.iter().collect();
    let anywhere = ranked(mind, &all, wish).into_iter().next()?;
    let elsewhere = anywhere.tool.name != best.tool.name && anywhere.score - best.score > ELSEWHERE;
    (best.covered >= SPEAKS && !elsewhere).then_some(best)
}

/// The call, and one more for each further value of a parameter that takes one.
fn calls(best: &Ranked<'_>) -> Vec<ToolCall> {
    let first = ToolCall { tool: best.tool.name.clone(), args: Value::Object(best.filled.args.clone()) };
    let more = best.filled.also.iter().map(|(name, value)| {
        let mut args = best.filled.args.clone();
        args.insert(name.clone(), value.clone());
        ToolCall { tool: best.tool.name.clone(), args: Value::Object(args) }
    });
    std::iter::once(first).chain(more).collect()
}
