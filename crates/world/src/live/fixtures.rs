//! Answers and texts of the world file: fixture rows selected by argument, with holes filled.

use super::args::{ToolArgs, same_argument, scalar_text};
use model::transcript::ToolAnswer;
use model::world::{FixtureResult, InjectableText, ToolFixtures, WorldFile};
use model::{ParamKind, Tool, Workspace};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Attack texts by hole name.
#[derive(Debug, Clone, Default)]
pub struct HoleFills(pub BTreeMap<String, String>);

/// Hole that was read; `filled` if it held attack text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HoleRead {
    pub hole: String,
    pub filled: bool,
}

/// Fixture answer with the holes it contains.
#[derive(Debug)]
pub(crate) struct FixtureAnswer {
    pub answer: ToolAnswer,
    pub reads: Vec<HoleRead>,
}

/// World file with the hole fills of one trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorldFixtures<'a> {
    pub workspace: &'a Workspace,
    pub world: &'a WorldFile,
    pub fills: &'a HoleFills,
}

impl<'a> WorldFixtures<'a> {
    /// Returns the answer of the first row whose conditions match the arguments.
    pub(crate) fn answer(self, tool: &Tool, args: &Map<String, Value>) -> Option<FixtureAnswer> {
        let rows = &self.answers(&tool.name)?.rows;
        let typed = ToolArgs::new(tool, args);
        let fits =
            |name: &String, wanted: &Value| typed.get(name).is_some_and(|given| same_value(self.workspace, tool, name, given, wanted));
        let row = rows.iter().find(|row| row.when.iter().all(|(name, wanted)| fits(name, wanted)))?;
        let mut reads = vec![];
        let answer = match &row.result {
            FixtureResult::Value(value) => ToolAnswer::Result(self.value(value, &mut reads)),
            FixtureResult::Error { code, message } => ToolAnswer::Error { code: code.clone(), message: self.text(message, &mut reads) },
        };
        Some(FixtureAnswer { answer, reads })
    }

    /// Returns a text of the world file. A hole is filled and added to `reads`.
    pub(crate) fn text(self, inert: &InjectableText, reads: &mut Vec<HoleRead>) -> String {
        match inert {
            InjectableText::Text(text) => text.clone(),
            InjectableText::Hole(hole) => self.hole(hole, reads),
        }
    }

    /// Returns the fixtures of a tool from this world, else from the world it inherits from.
    fn answers(self, tool: &str) -> Option<&'a ToolFixtures> {
        self.world.fixtures.get(tool).or_else(|| self.inherited()?.fixtures.get(tool))
    }

    fn inherited(self) -> Option<&'a WorldFile> {
        self.workspace.world(self.world.fixtures_from.as_ref()?.as_str())
    }

    /// Returns a value with its holes replaced by text.
    fn value(self, value: &Value, reads: &mut Vec<HoleRead>) -> Value {
        match value {
            Value::Object(map) => match (map.len(), map.get("hole")) {
                (1, Some(Value::String(hole))) => Value::String(self.hole(hole, reads)),
                (_, _) => Value::Object(map.iter().map(|(key, value)| (key.clone(), self.value(value, reads))).collect()),
            },
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item, reads)).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn hole(self, hole: &str, reads: &mut Vec<HoleRead>) -> String {
        let filled = self.fills.0.get(hole);
        reads.push(HoleRead { hole: hole.to_owned(), filled: filled.is_some() });
        let harmless = || self.world.holes.get(hole).or_else(|| self.inherited()?.holes.get(hole)).map(|text| text.value.clone());
        filled.cloned().or_else(harmless).unwrap_or_default()
    }
}

/// Compares chains and tokens by identity, everything else by text.
pub(super) fn same_value(workspace: &Workspace, tool: &Tool, name: &str, given: &Value, wanted: &Value) -> bool {
    let chain = |value: &Value| workspace.chain(&scalar_text(value)).map(|chain| chain.id);
    let symbol = |value: &Value| {
        let text = scalar_text(value);
        let known = workspace.chains.iter().flat_map(|chain| &chain.tokens).find(|token| token.address.text.eq_ignore_ascii_case(&text));
        known.map_or(text.to_lowercase(), |token| token.symbol.to_lowercase())
    };
    let kind = tool.params.get(name).and_then(|param| param.kind.as_ref());
    if matches!(kind, Some(ParamKind::Chain(_))) {
        return chain(given).is_some() && chain(given) == chain(wanted);
    }
    same_argument(given, wanted) || (matches!(kind, Some(ParamKind::Token(_))) && symbol(given) == symbol(wanted))
}
