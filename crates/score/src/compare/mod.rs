//! Compares argument values by meaning, according to the parameter's kind.

mod any_arg;
mod meaning;
#[cfg(test)]
mod tests;

pub(crate) use any_arg::has_part;
pub(crate) use meaning::{AssetDecimals, ValueContext, ValueMeaning, asset_of_token, deadline_meaning, meaning};

use meaning::entry_meaning;

use indexmap::IndexMap;
use model::rule::contains_text;
use model::suite::ArgMatcher;
use model::{AmountAsset, AmountUnit, ChainRegistry, ParamKind, ParamSpec, Tool, Workspace};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Returns whether the argument has the expected meaning. An omitted argument has the tool's default.
pub(crate) fn same_argument(workspace: &Workspace, tool: &Tool, name: &str, expected: &Value, args: &Value) -> bool {
    TypedArgs::for_call(workspace, tool, args).matches(name, expected)
}

/// Arguments of a call or a skill, with the specs of their parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypedArgs<'a> {
    pub(crate) workspace: &'a Workspace,
    params: &'a IndexMap<String, ParamSpec>,
    args: &'a Map<String, Value>,
    /// Chain of the first chain parameter; tokens are resolved on it.
    chain: Option<&'a ChainRegistry>,
}

/// Used for arguments that are not a JSON object.
static NO_ARGS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

static NO_PARAMS: LazyLock<IndexMap<String, ParamSpec>> = LazyLock::new(IndexMap::new);

impl<'a> TypedArgs<'a> {
    pub(crate) fn new(workspace: &'a Workspace, params: &'a IndexMap<String, ParamSpec>, args: &'a Map<String, Value>) -> Self {
        let without_chain = Self { workspace, params, args, chain: None };
        Self { chain: without_chain.chain(), ..without_chain }
    }

    pub(crate) fn for_call(workspace: &'a Workspace, tool: &'a Tool, args: &'a Value) -> Self {
        Self::new(workspace, &tool.params, args.as_object().unwrap_or(&NO_ARGS))
    }

    /// Returns arguments without kinds, for tools that do not exist.
    pub(crate) fn untyped(workspace: &'a Workspace, args: &'a Value) -> Self {
        Self::new(workspace, &NO_PARAMS, args.as_object().unwrap_or(&NO_ARGS))
    }

    /// Returns the given value, or else the default.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        let given = self.args.get(name).filter(|value| !value.is_null());
        given.or_else(|| self.params.get(name).and_then(|param| param.default.as_ref()))
    }

    /// Returns whether the call has the argument. A null counts as not given.
    fn is_given(&self, name: &str) -> bool {
        self.args.get(name).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn kind(&self, name: &str) -> Option<&'a ParamKind> {
        self.params.get(name).and_then(|param| param.kind.as_ref())
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&'a str, &'a ParamKind)> + use<'a> {
        self.params.iter().filter_map(|(name, param)| Some((name.as_str(), param.kind.as_ref()?)))
    }

    pub(crate) fn meaning(&self, name: &str) -> Option<ValueMeaning> {
        self.value(name).map(|value| self.meaning_as(name, value))
    }

    /// Returns the meaning that a value would have as this argument.
    pub(crate) fn meaning_as(&self, name: &str, value: &Value) -> ValueMeaning {
        meaning(&self.context(name), self.kind(name), value)
    }

    pub(crate) fn matches(&self, name: &str, expected: &Value) -> bool {
        self.meaning(name).is_some_and(|found| found == self.meaning_as(name, expected))
    }

    /// Returns whether the argument of a call has the expected meaning. The order of a set means nothing, unless another list is given
    /// beside it, whose items may belong to those of the set.
    fn matches_as_argument(&self, name: &str, expected: &Value) -> bool {
        let lists = self.kinds().filter(|(_, kind)| matches!(kind, ParamKind::List(_))).count();
        if lists == 1 { self.matches_in_any_order(name, expected) } else { self.matches(name, expected) }
    }

    /// Returns whether a parameter of a skill has the expected meaning. The order of chains, tokens, fee tiers, choices and ids in a list
    /// means nothing; that of amounts and objects may.
    pub(crate) fn matches_in_any_order(&self, name: &str, expected: &Value) -> bool {
        let sorted = |value: ValueMeaning| {
            let ValueMeaning::List(mut items) = value else { return value };
            if self.is_set(name) {
                items.sort_by_cached_key(|item| format!("{item:?}"));
            }
            ValueMeaning::List(items)
        };
        self.meaning(name).is_some_and(|found| sorted(found) == sorted(self.meaning_as(name, expected)))
    }

    fn is_set(&self, name: &str) -> bool {
        let Some(ParamKind::List(item)) = self.kind(name) else { return false };
        matches!(
            **item,
            ParamKind::Chain(_) | ParamKind::Token(_) | ParamKind::FeeTier | ParamKind::Enum | ParamKind::Id(_) | ParamKind::Address(_)
        )
    }

    /// Returns whether the argument has a value that the user stated. Users state amounts in whole tokens, also where the parameter is in
    /// base units.
    pub(crate) fn keeps(&self, name: &str, stated: &Value) -> bool {
        let whole = ParamKind::Amount { unit: AmountUnit::Human, of: None };
        let in_base_units = matches!(self.kind(name), Some(ParamKind::Amount { unit: AmountUnit::Base, .. }));
        let same = || self.meaning(name).is_some_and(|found| found == meaning(&self.context(name), Some(&whole), stated));
        self.matches(name, stated) || (in_base_units && same())
    }

    /// Returns the meaning of every argument, including defaults, by name. Equivalent calls have equal meanings.
    pub(crate) fn meanings(&self) -> Vec<(&'a str, ValueMeaning)> {
        let defaults =
            self.params.iter().filter(|(name, param)| param.default.is_some() && !self.args.contains_key(*name)).map(|(name, _)| name);
        let mut names: Vec<&'a str> = self.args.keys().chain(defaults).map(String::as_str).collect();
        names.sort_unstable();
        names.into_iter().filter_map(|name| Some((name, self.meaning(name)?))).collect()
    }

    /// Returns whether the argument meets the expectation of a case.
    pub(crate) fn satisfies(&self, name: &str, wanted: &ArgMatcher) -> bool {
        let Some(value) = self.value(name).filter(|_| !wanted.may_be_absent() || self.is_given(name)) else {
            return wanted.may_be_absent();
        };
        match wanted {
            ArgMatcher::Exactly(expected) => self.matches_as_argument(name, expected),
            ArgMatcher::AnyOf(options) => options.iter().any(|option| self.matches_as_argument(name, option)),
            ArgMatcher::AtMost(bound) => self.meaning_as(name, value).is_at_most(&self.meaning_as(name, bound)),
            ArgMatcher::Subset(whole) => self.contains(name, whole, value),
            ArgMatcher::Superset(part) => self.contains(name, value, part),
            ArgMatcher::Keys(keys) => value.as_object().is_some_and(|object| keys.iter().all(|key| object.contains_key(key))),
            ArgMatcher::Contains(text) => contains_text(value, text),
            ArgMatcher::Regex(pattern) => pattern.finds(value),
            ArgMatcher::Optional(inner) => self.satisfies(name, inner),
            ArgMatcher::Absent => false,
        }
    }

    /// Returns whether every item or entry of `part` is in `whole`. Items are compared by the item kind of the list, entries as JSON.
    fn contains(&self, name: &str, whole: &Value, part: &Value) -> bool {
        match (whole, part) {
            (Value::Object(whole), Value::Object(part)) => {
                part.iter().all(|(key, value)| whole.get(key).is_some_and(|found| entry_meaning(key, found) == entry_meaning(key, value)))
            }
            (Value::Array(whole), Value::Array(part)) => {
                let whole: Vec<ValueMeaning> = whole.iter().map(|item| self.item_meaning(name, item)).collect();
                part.iter().all(|item| whole.contains(&self.item_meaning(name, item)))
            }
            (_, _) => false,
        }
    }

    /// Returns whether the item is one of a list for this argument.
    pub(crate) fn has_item(&self, name: &str, list: &Value, item: &Value) -> bool {
        self.contains(name, list, &Value::Array(vec![item.clone()]))
    }

    fn item_meaning(&self, name: &str, item: &Value) -> ValueMeaning {
        let kind = self.kind(name).and_then(|kind| if let ParamKind::List(item) = kind { Some(item.as_ref()) } else { None });
        meaning(&self.context(name), kind, item)
    }

    pub(crate) fn context(&self, name: &str) -> ValueContext<'a> {
        let context = ValueContext { workspace: self.workspace, chain: self.chain, asset: None };
        let kind = self.kind(name).map(|kind| if let ParamKind::List(item) = kind { item } else { kind });
        let Some(ParamKind::Amount { of: Some(of), .. }) = kind else { return context };
        ValueContext { asset: self.asset(&context, of), ..context }
    }

    fn asset(&self, context: &ValueContext<'a>, of: &AmountAsset) -> Option<AssetDecimals<'a>> {
        match of {
            AmountAsset::Symbol(symbol) => asset_of_token(context, &Value::String(symbol.clone())),
            AmountAsset::Param(param) => asset_of_token(context, self.value(param)?),
        }
    }

    fn chain(&self) -> Option<&'a ChainRegistry> {
        let (name, _) = self.kinds().find(|(_, kind)| matches!(kind, ParamKind::Chain(_)))?;
        let context = ValueContext { workspace: self.workspace, chain: None, asset: None };
        let ValueMeaning::Chain(id) = meaning(&context, self.kind(name), self.value(name)?) else { return None };
        self.workspace.chains.iter().find(|chain| chain.id == id)
    }
}
