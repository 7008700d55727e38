//! Typed access to arguments by parameter kind, so that `chain`, `chain_id` and `source_chain` are read alike.

use super::tool_error::{ToolError, quote_value};
use alloy_primitives::U256;
use model::transcript::ToolErrorCode;
use model::{AddressRole, AddressText, Decimal, ParamKind, ParamSpec, TokenRole, Tool};
use serde_json::{Map, Value};

/// Arguments of one call, with the defaults of the tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolArgs<'a> {
    pub tool: &'a Tool,
    given: &'a Map<String, Value>,
}

impl<'a> ToolArgs<'a> {
    pub(crate) fn new(tool: &'a Tool, given: &'a Map<String, Value>) -> Self {
        Self { tool, given }
    }

    /// Returns the given value of a parameter, else its default. An explicit null returns `None`.
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        let value = self.given.get(name).or_else(|| self.tool.params.get(name)?.default.as_ref());
        value.filter(|value| !value.is_null())
    }

    pub(crate) fn as_map(&self) -> &'a Map<String, Value> {
        self.given
    }

    /// Returns the parameters of a kind that have a value, in catalogue order.
    pub(crate) fn of_kind(self, wanted: impl Fn(&ParamKind) -> bool) -> impl Iterator<Item = (&'a str, &'a ParamKind, &'a Value)> {
        self.tool.params.iter().filter_map(move |(name, ParamSpec { kind, .. })| {
            let kind = kind.as_ref().filter(|kind| wanted(kind))?;
            Some((name.as_str(), kind, self.get(name)?))
        })
    }

    pub(crate) fn first(self, wanted: impl Fn(&ParamKind) -> bool) -> Option<(&'a str, &'a Value)> {
        self.of_kind(wanted).next().map(|(name, _, value)| (name, value))
    }

    pub(crate) fn token(&self, role: TokenRole) -> Option<String> {
        self.first(|kind| matches!(kind, ParamKind::Token(Some(own)) if *own == role)).map(|(_, value)| scalar_text(value))
    }

    /// Returns the first token of any role.
    pub(crate) fn any_token(&self) -> Option<String> {
        self.first(|kind| matches!(kind, ParamKind::Token(_))).map(|(_, value)| scalar_text(value))
    }

    pub(crate) fn address(&self, role: AddressRole) -> Result<Option<AddressText>, ToolError> {
        self.first(|kind| matches!(kind, ParamKind::Address(own) if *own == role)).map(|(name, value)| address(name, value)).transpose()
    }

    pub(crate) fn bps(&self) -> Option<u64> {
        self.first(|kind| matches!(kind, ParamKind::Bps)).and_then(|(_, value)| value.as_u64())
    }

    /// Returns name, kind and value of every amount parameter.
    pub(crate) fn amounts(self) -> impl Iterator<Item = (&'a str, &'a ParamKind, &'a Value)> {
        self.of_kind(|kind| matches!(kind, ParamKind::Amount { .. }))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Bool(true))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(scalar_text)
    }
}

pub(crate) fn address(name: &str, value: &Value) -> Result<AddressText, ToolError> {
    let text = scalar_text(value);
    AddressText::parse(&text).ok_or_else(|| {
        ToolError::new(
            ToolErrorCode::InvalidAddress,
            format!("{name}: {} is not a valid address (expected 0x and 40 hex digits)", quote_value(&text)),
        )
    })
}

/// Returns a string trimmed, and any other value as JSON.
pub(crate) fn scalar_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Parses a decimal amount into base units. Rejects signs, exponents, hex and separators as ambiguous.
pub(crate) fn parse_amount(name: &str, text: &str, decimals: u8) -> Result<U256, ToolError> {
    crate::chain::genesis::base_units(text, decimals).ok_or_else(|| {
        let what = format!("{name}: {} is not an amount with at most {decimals} decimals", quote_value(text));
        ToolError::new(ToolErrorCode::InvalidAmount, what)
    })
}

/// Returns whether two arguments are equal after normalizing case and decimals.
pub(crate) fn same_argument(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_argument(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_argument(a, b)))
        }
        (
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
        ) => normalized(&scalar_text(a)) == normalized(&scalar_text(b)),
    }
}

/// Lowercases text and drops insignificant zeros of a decimal.
fn normalized(text: &str) -> String {
    let text = text.to_lowercase();
    let decimal = Decimal::parse_strict(&text).filter(|_| text.contains('.') && !text.starts_with('-'));
    decimal.map_or(text, |decimal| decimal.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn same_argument_ignores_spelling() {
        for (a, b, equal) in [
            (json!("250"), json!("250.00"), true),
            (json!(8453), json!("8453"), true),
            (json!("USDC"), json!("usdc"), true),
            (json!("250"), json!("2500"), false),
            (json!("100"), json!("1"), false),
            (json!([1, "A"]), json!(["1", "a"]), true),
            (json!({"a": 1}), json!({"a": 2}), false),
        ] {
            assert_eq!(same_argument(&a, &b), equal, "{a} {b}");
        }
    }
}
