//! Shape of an agent's final answer, derived from its output schema.

use model::JsonSchema;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct OutputShape {
    pub fields: Vec<OutputField>,
}

#[derive(Debug)]
pub(crate) struct OutputField {
    pub name: String,
    pub required: bool,
    pub kind: FieldKind,
    schema: JsonSchema,
}

#[derive(Debug)]
pub(crate) enum FieldKind {
    Choice(Vec<String>),
    Text,
    Integer,
    Number,
    Boolean,
    /// List of objects.
    Objects(OutputShape),
    List,
    Other,
}

impl OutputShape {
    pub(crate) fn new(schema: &Value) -> Self {
        let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields = schema["properties"].as_object().into_iter().flatten().map(|(name, property)| OutputField {
            name: name.clone(),
            required: required.contains(&name.as_str()),
            kind: field_kind(property),
            schema: JsonSchema::new(property.clone()),
        });
        Self { fields: fields.collect() }
    }
}

impl OutputField {
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.schema.accepts(value)
    }
}

fn field_kind(property: &Value) -> FieldKind {
    if let Some(words) = property["enum"].as_array() {
        return FieldKind::Choice(words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    match property["type"].as_str().unwrap_or_default() {
        "string" => FieldKind::Text,
        "integer" => FieldKind::Integer,
        "number" => FieldKind::Number,
        "boolean" => FieldKind::Boolean,
        "array" if property["items"]["properties"].is_object() => FieldKind::Objects(OutputShape::new(&property["items"])),
        "array" => FieldKind::List,
        _ => FieldKind::Other,
    }
}
