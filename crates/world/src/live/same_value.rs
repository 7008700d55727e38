//! Compares two values of an argument by the kind of its parameter, on the chain of a prepared action.

use super::args::{same_argument, scalar_text};
use super::tx_builder::TxBuilder;
use model::ParamKind;
use serde_json::Value;

pub(super) struct ValueComparison<'a, 'd> {
    pub(super) builder: &'a TxBuilder<'d>,
}

impl ValueComparison<'_, '_> {
    /// Returns whether two values have the same meaning: a chain by name or id, a token by symbol or address, lists item by item. Values of
    /// other kinds, and those that cannot be resolved, are the same if they are spelled alike.
    pub(super) fn is_same(&self, kind: Option<&ParamKind>, known: &Value, given: &Value) -> bool {
        if same_argument(known, given) {
            return true;
        }
        match (kind, known, given) {
            (Some(ParamKind::List(item)), Value::Array(known), Value::Array(given)) => {
                known.len() == given.len() && known.iter().zip(given).all(|(known, given)| self.is_same(Some(item), known, given))
            }
            (Some(ParamKind::Chain(_)), _, _) => {
                let id = |value: &Value| self.builder.workspace.chain(&scalar_text(value)).map(|chain| chain.id);
                id(known).is_some_and(|chain| id(given) == Some(chain))
            }
            (Some(ParamKind::Token(_)), _, _) => {
                let asset = |value: &Value| self.builder.asset(&scalar_text(value)).ok();
                asset(known).is_some_and(|token| asset(given) == Some(token))
            }
            (_, _, _) => false,
        }
    }
}
