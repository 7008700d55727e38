//! Answers from the world file: rows by argument, typed errors, holes filled.

use super::args::{Args, same, word};
use model::transcript::ToolAnswer;
use model::world::{Answers, Gives, Inert, WorldFile};
use model::{Kind, Tool, Workspace};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The holes of a world, with what an attack wrote into them.
#[derive(Debug, Clone, Default)]
pub struct Fills(pub BTreeMap<String, String>);

/// A hole that was read, and whether somebody had written into it.
pub(crate) type Read = (String, bool);

/// The answers a tool has in this world, its own or those of the world it takes over from.
pub(crate) fn answers<'w>(workspace: &'w Workspace, world: &'w WorldFile, tool: &str) -> Option<&'w Answers> {
    let inherited = || workspace.world(world.answers_from.as_ref()?.as_str())?.answers.get(tool);
    world.answers.get(tool).or_else(inherited)
}

/// The first row whose conditions hold.
pub(crate) fn answer(
    workspace: &Workspace,
    world: &WorldFile,
    fills: &Fills,
    tool: &Tool,
    args: &Map<String, Value>,
) -> Option<(ToolAnswer, Vec<Read>)> {
    let rows = &answers(workspace, world, &tool.name)?.rows;
    let typed = Args::new(tool, args);
    let fits = |name: &String, wanted: &Value| typed.get(name).is_some_and(|given| agree(workspace, tool, name, given, wanted));
    let row = rows.iter().find(|row| row.when.iter().all(|(name, wanted)| fits(name, wanted)))?;
    let mut reads = vec![];
    let answer = match &row.gives {
        Gives::Value(value) => ToolAnswer::Result(filled(workspace, world, fills, value, &mut reads)),
        Gives::Error { code, message } => {
            ToolAnswer::Error { code: code.clone(), message: text(workspace, world, fills, message, &mut reads) }
        }
    };
    Some((answer, reads))
}

/// Chains and tokens agree by what they are, everything else by what it says.
fn agree(workspace: &Workspace, tool: &Tool, name: &str, given: &Value, wanted: &Value) -> bool {
    let chain = |value: &Value| workspace.chain(&word(value)).map(|chain| chain.id);
    let symbol = |value: &Value| {
        let text = word(value);
        let known = workspace.chains.iter().flat_map(|chain| &chain.tokens).find(|token| token.address.text.eq_ignore_ascii_case(&text));
        known.map_or(text.to_lowercase(), |token| token.symbol.to_lowercase())
    };
    let kind = tool.params.get(name).and_then(|param| param.kind.as_ref());
    if matches!(kind, Some(Kind::Chain(_))) {
        return chain(given).is_some() && chain(given) == chain(wanted);
    }
    same(given, wanted) || (matches!(kind, Some(Kind::Token(_))) && symbol(given) == symbol(wanted))
}

/// A value with text in place of its holes.
fn filled(workspace: &Workspace, world: &WorldFile, fills: &Fills, value: &Value, reads: &mut Vec<Read>) -> Value {
    match value {
        Value::Object(map) => match (map.len(), map.get("hole")) {
            (1, Some(Value::String(hole))) => Value::String(read(workspace, world, fills, hole, reads)),
            (_, _) => Value::Object(map.iter().map(|(key, value)| (key.clone(), filled(workspace, world, fills, value, reads))).collect()),
        },
        Value::Array(items) => Value::Array(items.iter().map(|item| filled(workspace, world, fills, item, reads)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

pub(crate) fn text(workspace: &Workspace, world: &WorldFile, fills: &Fills, inert: &Inert, reads: &mut Vec<Read>) -> String {
    match inert {
        Inert::Text(text) => text.clone(),
        Inert::Hole(hole) => read(workspace, world, fills, hole, reads),
    }
}

fn read(workspace: &Workspace, world: &WorldFile, fills: &Fills, hole: &str, reads: &mut Vec<Read>) -> String {
    let filled = fills.0.get(hole);
    reads.push((hole.to_owned(), filled.is_some()));
    let inherited = || workspace.world(world.answers_from.as_ref()?.as_str())?.holes.get(hole);
    filled.cloned().or_else(|| world.holes.get(hole).or_else(inherited).map(|text| text.value.clone())).unwrap_or_default()
}
