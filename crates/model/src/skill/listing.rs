//! Listing of a skill for subjects: name, description and parameters.

use super::Skill;
use crate::tool_listing::ToolListing;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Entry of a list of skills. Holds nothing but the texts and parameters of the skill file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillListing {
    pub name: String,
    pub description: String,
    /// JSON Schema of the parameters as one object.
    pub input_schema: Arc<Value>,
}

impl Skill {
    pub fn listing(&self) -> SkillListing {
        let properties: Map<String, Value> = self.params.iter().map(|(name, param)| (name.clone(), param.schema.clone())).collect();
        let required: Vec<&str> = self.params.iter().filter(|(_, param)| param.required).map(|(name, _)| name.as_str()).collect();
        let input_schema =
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false }).into();
        SkillListing { name: self.name.value.clone(), description: self.description.clone(), input_schema }
    }
}

impl SkillListing {
    /// Returns the tool `use_skill` for these skills. Its description lists the parameters of each skill, because a schema for every
    /// skill is more than some providers accept.
    pub fn use_skill_tool(skills: &[Self]) -> ToolListing {
        let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
        let lines: Vec<String> = skills.iter().map(Self::text).collect();
        ToolListing {
            name: "use_skill".to_owned(),
            description: format!("Activate a skill with its parameters. Available skills:\n{}", lines.join("\n")),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "enum": names },
                    "params": {
                        "type": "object",
                        "description": "Values of the skill's parameters by name.",
                        "additionalProperties": true,
                    },
                },
                "required": ["name"],
                "additionalProperties": false,
            })
            .into(),
        }
    }

    /// Returns the skill as list entry, with one line for each parameter.
    fn text(&self) -> String {
        let required: Vec<&str> = self.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let params = self.input_schema["properties"].as_object().into_iter().flatten();
        let lines = params.map(|(name, schema)| param_line(name, schema, required.contains(&name.as_str())));
        [format!("- {}: {}", self.name, self.description)].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }
}

fn param_line(name: &str, schema: &Value, required: bool) -> String {
    let need = match (&schema["default"], required) {
        (_, true) => ", required".to_owned(),
        (Value::Null, false) => ", optional".to_owned(),
        (default, false) => format!(", default {default}"),
    };
    format!("  - {name} ({}{need}): {}", type_text(schema), schema["description"].as_str().unwrap_or_default())
}

/// Returns the permitted values, or the type with the type of its items and the names of its properties.
fn type_text(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect::<Vec<_>>().join(" | ");
    }
    let own = schema["type"].as_str().unwrap_or("any");
    let items = schema.get("items").map(|items| format!(" of {}", type_text(items)));
    let properties = schema["properties"].as_object().map(|properties| {
        let names: Vec<String> = properties.iter().map(|(name, schema)| format!("{name}: {}", type_text(schema))).collect();
        format!(" {{{}}}", names.join(", "))
    });
    format!("{own}{}{}", items.unwrap_or_default(), properties.unwrap_or_default())
}
