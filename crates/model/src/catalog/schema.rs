//! Compiled JSON Schemas and their violations.

use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// JSON Schema, compiled on first use because a run calls few of the tools.
pub struct JsonSchema {
    pub value: Arc<Value>,
    validator: OnceLock<Result<jsonschema::Validator, SchemaDefect>>,
}

/// Shortened message of a schema that cannot be compiled.
struct SchemaDefect(String);

/// Violation of a schema by a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaViolation {
    /// JSON pointer into the value; empty for the whole value.
    pub path: String,
    pub what: String,
}

impl JsonSchema {
    pub fn new(value: Value) -> Self {
        Self { value: Arc::new(value), validator: OnceLock::new() }
    }

    /// Returns the reason if the schema cannot be compiled. External references are never fetched.
    pub fn defect(&self) -> Option<&str> {
        self.validator().err()
    }

    pub fn accepts(&self, value: &Value) -> bool {
        self.validator().is_ok_and(|validator| validator.is_valid(value))
    }

    /// Returns the violations of a value. A schema that cannot be compiled accepts nothing.
    pub fn violations(&self, value: &Value) -> Vec<SchemaViolation> {
        match self.validator() {
            Err(defect) => vec![SchemaViolation { path: String::new(), what: format!("the schema itself is unusable: {defect}") }],
            Ok(validator) => validator
                .iter_errors(value)
                .map(|error| SchemaViolation { path: error.instance_path().to_string(), what: shorten(&error.to_string()) })
                .collect(),
        }
    }

    fn validator(&self) -> Result<&jsonschema::Validator, &str> {
        self.validator
            .get_or_init(|| jsonschema::draft202012::new(&self.value).map_err(|error| SchemaDefect(shorten(&error.to_string()))))
            .as_ref()
            .map_err(|defect| defect.0.as_str())
    }
}

/// Limits the length of a message, because it may quote a hostile value.
fn shorten(message: &str) -> String {
    crate::short_text::shortened(message, 200)
}

impl Clone for JsonSchema {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), validator: OnceLock::new() }
    }
}

impl std::fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Schema").field(&self.value).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_broken_schema_accepts_nothing() {
        let schema = JsonSchema::new(json!({"type": "strnig"}));
        assert!(schema.defect().is_some());
        assert!(!schema.accepts(&json!("x")));
        assert_eq!(schema.violations(&json!("x")).len(), 1);
    }

    #[test]
    fn schema_violation_has_json_pointer() {
        let schema = JsonSchema::new(json!({"type": "object", "properties": {"bps": {"type": "integer", "maximum": 10}}}));
        assert_eq!(schema.violations(&json!({"bps": 11}))[0].path, "/bps");
        assert!(schema.accepts(&json!({"bps": 10})));
    }

    #[test]
    fn external_ref_is_a_defect_and_not_fetched() {
        let schema = JsonSchema::new(json!({"$ref": "https://example.org/schema.json"}));
        assert!(schema.defect().is_some());
    }
}
