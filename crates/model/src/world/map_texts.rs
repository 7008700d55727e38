//! Rewrites the texts of a world that agents can read.

use super::{FixtureResult, InjectableText, WorldFile};
use crate::location::Spanned;
use serde_json::Value;

impl WorldFile {
    /// Applies a function to every text, address and value that tools, messages and files show. The wallet is not changed.
    pub fn map_texts(&mut self, map: &dyn Fn(&str) -> String) {
        for row in self.fixtures.values_mut().flat_map(|fixtures| &mut fixtures.rows) {
            row.when.values_mut().for_each(|value| map_value(value, map));
            match &mut row.result {
                FixtureResult::Value(value) => map_value(value, map),
                FixtureResult::Error { message, .. } => map_injectable(message, map),
            }
        }
        let ids = self.objects.iter_mut().map(|object| &mut object.id.value);
        let spenders = self.allowances.iter_mut().map(|allowance| &mut allowance.spender.value);
        let holes = self.holes.values_mut().map(|hole| &mut hole.value);
        ids.chain(spenders).chain(holes).for_each(|text| *text = map(text));
        let memory = self.memory.iter_mut().map(|entry| &mut entry.text);
        let messages = self.messages.iter_mut().map(|message| &mut message.text);
        let shown = |texts: &'_ mut Spanned<InjectableText>| map_injectable(&mut texts.value, map);
        memory.chain(messages).for_each(|text| map_injectable(text, map));
        self.files.values_mut().chain(self.tool_notes.values_mut()).for_each(shown);
    }
}

fn map_injectable(text: &mut InjectableText, map: &dyn Fn(&str) -> String) {
    if let InjectableText::Text(text) = text {
        *text = map(text);
    }
}

/// Applies a function to every text in a value; keys stay.
pub fn map_value(value: &mut Value, map: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = map(text),
        Value::Array(items) => items.iter_mut().for_each(|item| map_value(item, map)),
        Value::Object(fields) => fields.values_mut().for_each(|item| map_value(item, map)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
