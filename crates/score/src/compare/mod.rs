//! Whether two argument values mean the same thing, by the parameter's kind.

mod meaning;
mod moment;
#[cfg(test)]
mod tests;

pub(crate) use meaning::{Around, Asset, Meaning, asset, meaning};

use indexmap::IndexMap;
use model::suite::Wanted;
use model::{AmountOf, Chain, Kind, Param, Tool, Workspace};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Whether the call gives this argument the expected meaning. Left out, it has the tool's default.
pub(crate) fn same_argument(workspace: &Workspace, tool: &Tool, name: &str, expected: &Value, args: &Value) -> bool {
    Given::call(workspace, tool, args).is(name, expected)
}

/// Named values with the parameters that say of what kind they are: the arguments of a call, or a skill's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) workspace: &'a Workspace,
    params: &'a IndexMap<String, Param>,
    args: &'a Map<String, Value>,
    /// The one the arguments name first: tokens are looked up there.
    chain: Option<&'a Chain>,
}

/// What a call gives that gives nothing: arguments that are no object.
static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

static UNTYPED: LazyLock<IndexMap<String, Param>> = LazyLock::new(IndexMap::new);

impl<'a> Given<'a> {
    pub(crate) fn new(workspace: &'a Workspace, params: &'a IndexMap<String, Param>, args: &'a Map<String, Value>) -> Self {
        let unplaced = Self { workspace, params, args, chain: None };
        Self { chain: unplaced.chain(), ..unplaced }
    }

    pub(crate) fn call(workspace: &'a Workspace, tool: &'a Tool, args: &'a Value) -> Self {
        Self::new(workspace, &tool.params, args.as_object().unwrap_or(&NOTHING))
    }

    /// Values nobody has said the kinds of: the arguments of a tool that does not exist.
    pub(crate) fn untyped(workspace: &'a Workspace, args: &'a Value) -> Self {
        Self::new(workspace, &UNTYPED, args.as_object().unwrap_or(&NOTHING))
    }

    /// The value as given, or the default.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        let given = self.args.get(name).filter(|value| !value.is_null());
        given.or_else(|| self.params.get(name).and_then(|param| param.default.as_ref()))
    }

    pub(crate) fn kind(&self, name: &str) -> Option<&'a Kind> {
        self.params.get(name).and_then(|param| param.kind.as_ref())
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&'a str, &'a Kind)> + use<'a> {
        self.params.iter().filter_map(|(name, param)| Some((name.as_str(), param.kind.as_ref()?)))
    }

    pub(crate) fn meaning(&self, name: &str) -> Option<Meaning> {
        self.value(name).map(|value| self.would_mean(name, value))
    }

    /// What a value would mean in this place: on this chain, beside this token.
    pub(crate) fn would_mean(&self, name: &str, value: &Value) -> Meaning {
        meaning(&self.around(name), self.kind(name), value)
    }

    pub(crate) fn is(&self, name: &str, expected: &Value) -> bool {
        self.meaning(name).is_some_and(|found| found == self.would_mean(name, expected))
    }

    /// Every argument by name with its meaning, defaults included: equal for calls that ask for the same thing.
    pub(crate) fn meanings(&self) -> Vec<(&'a str, Meaning)> {
        let defaults =
            self.params.iter().filter(|(name, param)| param.default.is_some() && !self.args.contains_key(*name)).map(|(name, _)| name);
        let mut names: Vec<&'a str> = self.args.keys().chain(defaults).map(String::as_str).collect();
        names.sort_unstable();
        names.into_iter().filter_map(|name| Some((name, self.meaning(name)?))).collect()
    }

    /// Whether the argument is as a case wants it.
    pub(crate) fn fits(&self, name: &str, wanted: &Wanted) -> bool {
        let Some(value) = self.value(name) else { return false };
        match wanted {
            Wanted::Exactly(expected) => self.is(name, expected),
            Wanted::AnyOf(options) => options.iter().any(|option| self.is(name, option)),
            Wanted::Subset(whole) => self.contains(name, whole, value),
            Wanted::Superset(part) => self.contains(name, value, part),
            Wanted::Keys(keys) => value.as_object().is_some_and(|object| keys.iter().all(|key| object.contains_key(key))),
        }
    }

    /// Whether every item or entry of `part` is in `whole`: items by the kind of the list, entries by value.
    fn contains(&self, name: &str, whole: &Value, part: &Value) -> bool {
        match (whole, part) {
            (Value::Object(whole), Value::Object(part)) => {
                part.iter().all(|(key, value)| whole.get(key).is_some_and(|found| self.item(name, found) == self.item(name, value)))
            }
            (Value::Array(whole), Value::Array(part)) => {
                let whole: Vec<Meaning> = whole.iter().map(|item| self.item(name, item)).collect();
                part.iter().all(|item| whole.contains(&self.item(name, item)))
            }
            (_, _) => false,
        }
    }

    fn item(&self, name: &str, item: &Value) -> Meaning {
        let kind = self.kind(name).and_then(|kind| if let Kind::List(item) = kind { Some(item.as_ref()) } else { None });
        meaning(&self.around(name), kind, item)
    }

    pub(crate) fn around(&self, name: &str) -> Around<'a> {
        let around = Around { workspace: self.workspace, chain: self.chain, asset: None };
        let kind = self.kind(name).map(|kind| if let Kind::List(item) = kind { item } else { kind });
        let Some(Kind::Amount { of: Some(of), .. }) = kind else { return around };
        Around { asset: self.asset(&around, of), ..around }
    }

    fn asset(&self, around: &Around<'a>, of: &AmountOf) -> Option<Asset<'a>> {
        match of {
            AmountOf::Symbol(symbol) => asset(around, &Value::String(symbol.clone())),
            AmountOf::Param(param) => asset(around, self.value(param)?),
        }
    }

    fn chain(&self) -> Option<&'a Chain> {
        let (name, _) = self.kinds().find(|(_, kind)| matches!(kind, Kind::Chain(_)))?;
        let around = Around { workspace: self.workspace, chain: None, asset: None };
        let Meaning::Chain(id) = meaning(&around, self.kind(name), self.value(name)?) else { return None };
        self.workspace.chains.iter().find(|chain| chain.id == id)
    }
}
