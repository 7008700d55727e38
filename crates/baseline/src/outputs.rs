//! The shape of an agent's final answer, prepared for filling.

use model::Schema;
use serde_json::Value;

#[derive(Debug)]
pub(super) struct OutputShape {
    pub fields: Vec<Field>,
}

#[derive(Debug)]
pub(super) struct Field {
    pub name: String,
    pub required: bool,
    pub holds: Holds,
    schema: Schema,
}

#[derive(Debug)]
pub(super) enum Holds {
    Choice(Vec<String>),
    Text,
    Whole,
    Number,
    Truth,
    /// A list of things with fields of their own.
    Items(OutputShape),
    List,
    Other,
}

impl OutputShape {
    pub(super) fn new(schema: &Value) -> Self {
        let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields = schema["properties"].as_object().into_iter().flatten().map(|(name, property)| Field {
            name: name.clone(),
            required: required.contains(&name.as_str()),
            holds: holds(property),
            schema: Schema::new(property.clone()),
        });
        Self { fields: fields.collect() }
    }
}

impl Field {
    pub(super) fn accepts(&self, value: &Value) -> bool {
        self.schema.accepts(value)
    }
}

fn holds(property: &Value) -> Holds {
    if let Some(words) = property["enum"].as_array() {
        return Holds::Choice(words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    match property["type"].as_str().unwrap_or_default() {
        "string" => Holds::Text,
        "integer" => Holds::Whole,
        "number" => Holds::Number,
        "boolean" => Holds::Truth,
        "array" if property["items"]["properties"].is_object() => Holds::Items(OutputShape::new(&property["items"])),
        "array" => Holds::List,
        _ => Holds::Other,
    }
}
