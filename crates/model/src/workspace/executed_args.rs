//! Arguments of a preparing call as arguments of the tool that executes the prepared action.

use super::Workspace;
use crate::catalog::{AmountAsset, AmountUnit, ChainRole, ParamKind, ParamSpec, TokenRole, Tool};
use crate::decimal::Decimal;
use serde_json::{Map, Value};

impl Workspace {
    /// Returns the arguments that the call `given` of the tool `from` fixes for the tool `to`, which executes what it prepared. A chain, a
    /// token of the same side, an amount and a tolerance keep their meaning under the name and in the unit of `to`; defaults of `from` are
    /// included. Other arguments stay as they are. An amount that cannot be converted is left out.
    pub fn executed_args(&self, from: &Tool, to: &Tool, given: &Map<String, Value>) -> Map<String, Value> {
        let mut args = given.clone();
        args.remove("dry_run");
        if from.name.value == to.name.value {
            return args;
        }
        for (name, param) in &to.params {
            let Some((source, value)) = source_value(from, to, name, param, given) else { continue };
            match self.converted(&PreparedCall { tool: from, given }, source, param, value) {
                Some(value) => args.insert(name.clone(), value),
                None => args.remove(name),
            };
        }
        args
    }

    /// Returns whether the call `given` of the tool `from` asks for a trade that arguments of the tool `to` cannot describe: one that fixes the
    /// bought amount, or one that ends on another chain.
    pub fn exceeds_args(&self, from: &Tool, to: &Tool, given: &Map<String, Value>) -> bool {
        let made = PreparedCall { tool: from, given };
        let is_flag = |name: &str| matches!(name, "exact_output" | "trade_type");
        let is_end = |kind: &ParamKind| matches!(kind, ParamKind::Chain(Some(ChainRole::Destination)));
        let has_end = to.params.values().any(|param| param.kind.as_ref().is_some_and(is_end));
        let id = |value: &Value| self.chain(&text(value)).map(|chain| chain.id);
        let start = made.first(|kind| matches!(kind, ParamKind::Chain(None | Some(ChainRole::Source)))).and_then(id);
        let leads_away = made.first(is_end).is_some_and(|end| id(end) != start);
        (made.fixes_output() && !to.params.keys().any(|name| is_flag(name))) || (leads_away && !has_end)
    }

    fn converted(&self, made: &PreparedCall<'_>, source: &ParamSpec, target: &ParamSpec, value: &Value) -> Option<Value> {
        match (source.kind.as_ref(), target.kind.as_ref()) {
            (Some(ParamKind::Chain(_)), Some(ParamKind::Chain(_))) => {
                let known = self.chain(&text(value));
                Some(match (known, target.schema["type"].as_str()) {
                    (Some(chain), Some("integer")) => Value::from(chain.id),
                    (_, Some("string")) => Value::String(text(value)),
                    (_, _) => value.clone(),
                })
            }
            (Some(ParamKind::Amount { unit: is, of }), Some(ParamKind::Amount { unit: wanted, .. })) if is != wanted => {
                if matches!(text(value).as_str(), "all" | "max") {
                    return Some(value.clone());
                }
                let decimals = i64::from(self.counted_decimals(made, of.as_ref()?)?);
                let number = Decimal::parse_strict(&text(value))?;
                match (is, wanted) {
                    (AmountUnit::Base, AmountUnit::Human) => Some(Value::String(number.shifted(-decimals).to_string())),
                    (AmountUnit::Human, AmountUnit::Base) => Some(Value::String(number.shifted(decimals).to_string())),
                    (_, _) => None,
                }
            }
            (_, _) => Some(value.clone()),
        }
    }

    /// Returns the decimals of the asset that an amount counts: the bought one if the call fixes the output.
    fn counted_decimals(&self, made: &PreparedCall<'_>, of: &AmountAsset) -> Option<u8> {
        let chain = made.first(|kind| matches!(kind, ParamKind::Chain(None | Some(ChainRole::Source))))?;
        let chain = self.chain(&text(chain))?;
        let bought = || made.first(|kind| matches!(kind, ParamKind::Token(Some(TokenRole::Out))));
        let token = match of {
            _ if made.fixes_output() => text(bought()?),
            AmountAsset::Symbol(symbol) => symbol.clone(),
            AmountAsset::Param(param) => text(made.value(param)?),
        };
        self.decimals(None, chain.id, &token)
    }
}

/// Call of a preparing tool.
struct PreparedCall<'a> {
    tool: &'a Tool,
    given: &'a Map<String, Value>,
}

impl<'a> PreparedCall<'a> {
    fn value(&self, name: &str) -> Option<&'a Value> {
        given_or_default(self.tool, name, self.given)
    }

    fn first(&self, wanted: impl Fn(&ParamKind) -> bool) -> Option<&'a Value> {
        let fits = |param: &ParamSpec| param.kind.as_ref().is_some_and(&wanted);
        self.tool.params.iter().filter(|(_, param)| fits(param)).find_map(|(name, _)| self.value(name))
    }

    fn fixes_output(&self) -> bool {
        let word = self.value("trade_type").and_then(Value::as_str);
        self.value("exact_output") == Some(&Value::Bool(true)) || word.is_some_and(|word| word.eq_ignore_ascii_case("EXACT_OUTPUT"))
    }
}

/// Returns the parameter of `from` that stands for a parameter of `to`, with its value: the one of the same name and kind, or else the
/// first of the same meaning that stands for no other.
fn source_value<'a>(
    from: &'a Tool,
    to: &Tool,
    name: &str,
    param: &ParamSpec,
    given: &'a Map<String, Value>,
) -> Option<(&'a ParamSpec, &'a Value)> {
    let same = |other: &ParamSpec, wanted: &ParamSpec| match (&other.kind, &wanted.kind) {
        (Some(other), Some(wanted)) => same_meaning(other, wanted),
        (_, _) => false,
    };
    let taken = |known: &str, other: &ParamSpec| to.params.get(known).is_some_and(|wanted| same(other, wanted));
    let named = from.params.get_key_value(name).filter(|(_, other)| same(other, param));
    let (source, spec) = named.or_else(|| from.params.iter().find(|(known, other)| same(other, param) && !taken(known.as_str(), other)))?;
    Some((spec, given_or_default(from, source, given)?))
}

pub(super) fn given_or_default<'a>(tool: &'a Tool, name: &str, given: &'a Map<String, Value>) -> Option<&'a Value> {
    let stated = given.get(name).filter(|value| !value.is_null());
    stated.or_else(|| tool.params.get(name).and_then(|param| param.default.as_ref()))
}

fn same_meaning(a: &ParamKind, b: &ParamKind) -> bool {
    let leads_away = |role: &Option<ChainRole>| *role == Some(ChainRole::Destination);
    match (a, b) {
        (ParamKind::Chain(a), ParamKind::Chain(b)) => leads_away(a) == leads_away(b),
        (ParamKind::Token(a), ParamKind::Token(b)) => a == b,
        (ParamKind::Amount { unit: a, .. }, ParamKind::Amount { unit: b, .. }) => {
            let tokens = |unit: &AmountUnit| matches!(unit, AmountUnit::Human | AmountUnit::Base);
            a == b || (tokens(a) && tokens(b))
        }
        (ParamKind::Bps, ParamKind::Bps) => true,
        (_, _) => false,
    }
}

/// Returns a JSON text without quotes, and any other value as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}
