//! Parameters of a tool or skill, prepared for filling: kinds, bounds, choices and cue words.

use crate::words::{stems, terms};
use indexmap::IndexMap;
use model::{AmountAsset, Location, ParamKind, ParamSpec};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct ParamSlots {
    pub slots: Vec<ParamSlot>,
}

#[derive(Debug)]
pub(crate) struct ParamSlot {
    pub name: String,
    pub kind: ParamKind,
    pub required: bool,
    pub numeric: bool,
    pub integer: bool,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub max_chars: usize,
    /// Stems of name and description, with their weights.
    pub cues: BTreeMap<String, f64>,
    /// Stems of the name.
    pub name_stems: Vec<String>,
    pub choices: Vec<EnumChoice>,
    pub about: String,
    /// Set if the schema accepts "max".
    pub accepts_max: bool,
    pub item_numeric: bool,
    /// Properties of an object, or of each object of a list.
    pub nested: Option<Box<ParamSlots>>,
}

#[derive(Debug)]
pub(crate) struct EnumChoice {
    pub value: Value,
    pub stems: Vec<String>,
    pub lower: String,
}

impl ParamSlots {
    pub(crate) fn new(params: &IndexMap<String, ParamSpec>) -> Self {
        // The plan runner sets these two parameters; they are never taken from the user.
        let slots = params.iter().filter(|(name, _)| !matches!(name.as_str(), "dry_run" | "action_id"));
        Self { slots: slots.map(|(name, param)| ParamSlot::new(name, param)).collect() }
    }

    pub(crate) fn slot(&self, name: &str) -> Option<&ParamSlot> {
        self.slots.iter().find(|slot| slot.name == name)
    }
}

impl ParamSlot {
    fn new(name: &str, param: &ParamSpec) -> Self {
        let schema = &param.schema;
        let item = schema.get("items").unwrap_or(&Value::Null);
        let declared = schema["type"].as_str().unwrap_or("string");
        let kind = param.kind.clone().unwrap_or_else(|| guess_kind(declared, schema));
        let choices = schema["enum"].as_array().or_else(|| item["enum"].as_array());
        let choices = choices.into_iter().flatten().map(EnumChoice::new).collect();
        let mut cues = BTreeMap::new();
        for stem in stems(&param.description) {
            cues.insert(stem, 1.0);
        }
        let name_stems = stems(name);
        for stem in &name_stems {
            cues.insert(stem.clone(), 2.0);
        }
        let pattern = schema["pattern"].as_str().unwrap_or_default();
        Self {
            name: name.to_owned(),
            kind,
            required: param.required,
            numeric: matches!(declared, "integer" | "number"),
            integer: declared == "integer",
            low: schema["minimum"].as_f64().or_else(|| schema["exclusiveMinimum"].as_f64()),
            high: schema["maximum"].as_f64().or_else(|| schema["exclusiveMaximum"].as_f64()),
            max_chars: schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok()).unwrap_or(400),
            cues,
            name_stems,
            choices,
            about: param.description.clone(),
            accepts_max: pattern.contains("max"),
            item_numeric: matches!(item["type"].as_str(), Some("integer" | "number")),
            nested: nested_slots(schema, &param.at).or_else(|| nested_slots(item, &param.at)).map(Box::new),
        }
    }

    /// Returns the asset that this amount counts.
    pub(crate) fn counted_asset(&self) -> Option<&AmountAsset> {
        self.kind.amount().and_then(|(_, of)| of)
    }

    /// Reports whether a value is one of the choices. True if there are no choices.
    pub(crate) fn allows_value(&self, value: &Value) -> bool {
        self.choices.is_empty() || self.choices.iter().any(|choice| choice.value == *value)
    }

    pub(crate) fn is_in_range(&self, number: f64) -> bool {
        self.low.is_none_or(|low| number >= low) && self.high.is_none_or(|high| number <= high)
    }

    /// Returns the name with spaces, for questions.
    pub(crate) fn spoken_name(&self) -> String {
        self.name.replace('_', " ")
    }
}

/// Returns the properties of an object as parameters without a declared kind.
fn nested_slots(schema: &Value, at: &Location) -> Option<ParamSlots> {
    let required = |name: &String| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let slots = schema["properties"].as_object()?.iter().map(|(name, schema)| {
        let description = schema["description"].as_str().unwrap_or_default().to_owned();
        let param = ParamSpec { kind: None, required: required(name), default: None, description, schema: schema.clone(), at: at.clone() };
        ParamSlot::new(name, &param)
    });
    Some(ParamSlots { slots: slots.collect() })
}

/// Guesses the kind of a parameter whose file declares none, as with imported tools.
fn guess_kind(declared: &str, schema: &Value) -> ParamKind {
    match declared {
        _ if schema.get("enum").is_some() => ParamKind::Enum,
        "boolean" => ParamKind::Flag,
        "integer" => ParamKind::Count,
        "number" => ParamKind::Ratio,
        "array" => ParamKind::List(Box::new(ParamKind::Text)),
        "object" => ParamKind::Object,
        _ => ParamKind::Text,
    }
}

impl EnumChoice {
    fn new(value: &Value) -> Self {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut stems = stems(&text);
        if stems.is_empty() {
            stems = terms(&text);
        }
        Self { value: value.clone(), stems, lower: text.to_lowercase() }
    }
}
