//! What a tool or a skill takes, prepared for filling: kinds, bounds, choices and the words that point to each parameter.

use super::words::{stems, terms};
use indexmap::IndexMap;
use model::{AmountOf, Kind, Param, Place};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Shape {
    pub slots: Vec<Slot>,
}

#[derive(Debug)]
pub(super) struct Slot {
    pub name: String,
    pub kind: Kind,
    pub required: bool,
    pub numeric: bool,
    pub whole: bool,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub longest: usize,
    /// Words of the name and the description, and how strongly they point here.
    pub cues: BTreeMap<String, f64>,
    /// Words of the name alone.
    pub name_stems: Vec<String>,
    pub choices: Vec<Choice>,
    pub about: String,
    /// "max" fits the schema.
    pub takes_max: bool,
    pub item_numeric: bool,
    /// What an object, or each object of a list, is made of.
    pub inside: Option<Box<Shape>>,
}

#[derive(Debug)]
pub(super) struct Choice {
    pub value: Value,
    pub stems: Vec<String>,
    pub lower: String,
}

impl Shape {
    pub(super) fn new(params: &IndexMap<String, Param>) -> Self {
        // The two parameters that give actions an identity are the walker's business, not the user's.
        let slots = params.iter().filter(|(name, _)| !matches!(name.as_str(), "dry_run" | "action_id"));
        Self { slots: slots.filter_map(|(name, param)| Slot::new(name, param)).collect() }
    }

    pub(super) fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.name == name)
    }
}

impl Slot {
    fn new(name: &str, param: &Param) -> Option<Self> {
        let schema = &param.schema;
        let item = schema.get("items").unwrap_or(&Value::Null);
        let declared = schema["type"].as_str().unwrap_or("string");
        let kind = param.kind.clone().unwrap_or_else(|| guessed(declared, schema));
        let choices = schema["enum"].as_array().or_else(|| item["enum"].as_array());
        let choices = choices.into_iter().flatten().map(Choice::new).collect();
        let mut cues = BTreeMap::new();
        for stem in stems(&param.description) {
            cues.insert(stem, 1.0);
        }
        let name_stems = stems(name);
        for stem in &name_stems {
            cues.insert(stem.clone(), 2.0);
        }
        let pattern = schema["pattern"].as_str().unwrap_or_default();
        Some(Self {
            name: name.to_owned(),
            kind,
            required: param.required,
            numeric: matches!(declared, "integer" | "number"),
            whole: declared == "integer",
            low: schema["minimum"].as_f64().or_else(|| schema["exclusiveMinimum"].as_f64()),
            high: schema["maximum"].as_f64().or_else(|| schema["exclusiveMaximum"].as_f64()),
            longest: schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok()).unwrap_or(400),
            cues,
            name_stems,
            choices,
            about: param.description.clone(),
            takes_max: pattern.contains("max"),
            item_numeric: matches!(item["type"].as_str(), Some("integer" | "number")),
            inside: inside(schema, &param.at).or_else(|| inside(item, &param.at)).map(Box::new),
        })
    }

    /// The parameter whose asset this amount counts.
    pub(super) fn counts(&self) -> Option<&AmountOf> {
        self.kind.amount().and_then(|(_, of)| of)
    }

    /// Whether a value is one of those there are to choose from, where there are such.
    pub(super) fn lists(&self, value: &Value) -> bool {
        self.choices.is_empty() || self.choices.iter().any(|choice| choice.value == *value)
    }

    pub(super) fn within(&self, number: f64) -> bool {
        self.low.is_none_or(|low| number >= low) && self.high.is_none_or(|high| number <= high)
    }

    /// How a person would call it.
    pub(super) fn spoken(&self) -> String {
        self.name.replace('_', " ")
    }
}

/// The properties of an object, each a parameter whose kind nobody has said.
fn inside(schema: &Value, at: &Place) -> Option<Shape> {
    let required = |name: &String| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let slots = schema["properties"].as_object()?.iter().filter_map(|(name, schema)| {
        let description = schema["description"].as_str().unwrap_or_default().to_owned();
        let param = Param { kind: None, required: required(name), default: None, description, schema: schema.clone(), at: at.clone() };
        Slot::new(name, &param)
    });
    Some(Shape { slots: slots.collect() })
}

/// Where a tool was imported and nobody has said what its parameters are.
fn guessed(declared: &str, schema: &Value) -> Kind {
    match declared {
        _ if schema.get("enum").is_some() => Kind::Enum,
        "boolean" => Kind::Flag,
        "integer" => Kind::Count,
        "number" => Kind::Ratio,
        "array" => Kind::List(Box::new(Kind::Text)),
        "object" => Kind::Object,
        _ => Kind::Text,
    }
}

impl Choice {
    fn new(value: &Value) -> Self {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut stems = stems(&text);
        if stems.is_empty() {
            stems = terms(&text);
        }
        Self { value: value.clone(), stems, lower: text.to_lowercase() }
    }
}
