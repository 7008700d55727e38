//! Kinds of mutation and their implementation.

use serde_json::{Map, Value};

use crate::accept::accepts;
use crate::draw::{self, ShapeSite, any_value};
use crate::number::{RangeEnd, json_float, json_integer};
use crate::random::SampleRng;
use crate::shape::{JsonType, ListShape, ObjectShape, ValueShape, as_integer};
use crate::text::{MAX_TRIED_LENGTH, random_text};

/// One way to make a value invalid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    MissingKey(String),
    ExtraKey,
    WrongType(JsonType),
    BelowMinimum,
    AboveMaximum,
    NotAMultiple,
    OutsideEnum,
    BreaksPattern,
    TooShort,
    TooLong,
    TooFewItems,
    TooManyItems,
    RepeatsItem,
}

impl Mutation {
    /// Returns the name of the kind of mutation, without its parameters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MissingKey(_) => "missing key",
            Self::ExtraKey => "extra key",
            Self::WrongType(_) => "wrong type",
            Self::BelowMinimum => "below the minimum",
            Self::AboveMaximum => "above the maximum",
            Self::NotAMultiple => "not a multiple",
            Self::OutsideEnum => "outside the enum",
            Self::BreaksPattern => "breaks the pattern",
            Self::TooShort => "too short",
            Self::TooLong => "too long",
            Self::TooFewItems => "too few items",
            Self::TooManyItems => "too many items",
            Self::RepeatsItem => "repeats an item",
        }
    }

    /// Returns the mutations that can break a value at a site.
    pub(crate) fn at(site: &ShapeSite<'_>) -> Vec<Self> {
        // Another branch of the union may allow the other type.
        let types = JsonType::ALL.into_iter().filter(|&kind| !site.is_branch && !site.shape.allows(kind));
        let mut all: Vec<Self> = types.map(Self::WrongType).collect();
        let bounds = |low: bool, high: bool| [(low, Self::BelowMinimum), (high, Self::AboveMaximum)];
        let possible = match site.shape {
            ValueShape::Any | ValueShape::Never | ValueShape::Null | ValueShape::Boolean | ValueShape::AnyOf(_) | ValueShape::OneOf(_) => {
                vec![]
            }
            ValueShape::Integer(range) => {
                let bounds = bounds(range.bounds.low.is_some(), range.bounds.high.is_some());
                bounds.into_iter().chain([(range.multiple_of > 1, Self::NotAMultiple)]).collect()
            }
            ValueShape::Number(range) => bounds(range.low.is_some(), range.high.is_some()).into(),
            ValueShape::Text(text) => vec![
                (text.pattern.is_some(), Self::BreaksPattern),
                (text.min > 0, Self::TooShort),
                (text.max.is_some_and(|max| max < MAX_TRIED_LENGTH), Self::TooLong),
            ],
            ValueShape::Choice(_) => vec![(true, Self::OutsideEnum)],
            ValueShape::List(list) => vec![
                (list.min > 0, Self::TooFewItems),
                (list.max.is_some_and(|max| max < MAX_TRIED_LENGTH), Self::TooManyItems),
                (list.unique && list.max.is_none_or(|max| max > 1), Self::RepeatsItem),
            ],
            ValueShape::Object(object) => {
                let missing = object.fields.iter().map(|field| (field.required, Self::MissingKey(field.name.clone())));
                missing.chain([(matches!(*object.extra, ValueShape::Never), Self::ExtraKey)]).collect()
            }
        };
        all.extend(possible.into_iter().filter(|(possible, _)| *possible).map(|(_, mutation)| mutation));
        all
    }

    /// Returns an invalid replacement for `good`, or `None` if none was found, for example for a pattern that matches everything.
    pub(crate) fn apply(&self, shape: &ValueShape, good: &Value, random: &mut SampleRng) -> Option<Value> {
        Some(match (self, shape) {
            (Self::MissingKey(key), _) => {
                let mut map = good.as_object()?.clone();
                map.shift_remove(key)?;
                Value::Object(map)
            }
            (Self::ExtraKey, ValueShape::Object(object)) => {
                let mut map = good.as_object()?.clone();
                map.insert(misspelt_key(object, random), any_value(random));
                Value::Object(map)
            }
            (Self::WrongType(kind), _) => value_of_type(*kind, good, random),
            (Self::BelowMinimum, ValueShape::Integer(range)) => range.out_of_range(RangeEnd::Low, random)?,
            (Self::BelowMinimum, ValueShape::Number(bounds)) => bounds.out_of_range(RangeEnd::Low, random)?,
            (Self::AboveMaximum, ValueShape::Integer(range)) => range.out_of_range(RangeEnd::High, random)?,
            (Self::AboveMaximum, ValueShape::Number(bounds)) => bounds.out_of_range(RangeEnd::High, random)?,
            (Self::NotAMultiple, ValueShape::Integer(range)) => {
                json_integer(as_integer(good.as_number()?)? + random.between(1, range.multiple_of - 1))
            }
            (Self::OutsideEnum, ValueShape::Choice(choices)) => {
                (0..16).map(|_| near_miss(random.pick(choices).clone(), random)).find(|other| !accepts(shape, other))?
            }
            (Self::BreaksPattern, ValueShape::Text(text)) => text.break_pattern(good.as_str()?, random)?.into(),
            (Self::TooShort, ValueShape::Text(text)) => good.as_str()?.chars().take(random.below(text.min)).collect::<String>().into(),
            (Self::TooLong, ValueShape::Text(text)) => text.exceed_max_length(good.as_str()?, random)?.into(),
            (Self::TooFewItems, ValueShape::List(list)) => good.as_array()?.iter().take(random.below(list.min)).cloned().collect(),
            (Self::TooManyItems, ValueShape::List(list)) => exceed_max_items(list, good.as_array()?.clone(), random)?,
            (Self::RepeatsItem, ValueShape::List(list)) => repeat_item(list, good.as_array()?.clone(), random)?,
            _ => return None,
        })
    }
}

/// Returns a misspelling of a real key, as models produce them, and sometimes an unrelated key.
fn misspelt_key(object: &ObjectShape, random: &mut SampleRng) -> String {
    let misspelt = object.fields.get(random.below(object.fields.len())).map(|field| match random.below(4) {
        0 => field.name.replace('_', ""),
        1 => field.name.to_uppercase(),
        2 => format!("{}s", field.name),
        _ => format!("{}_", field.name),
    });
    misspelt.filter(|key| object.field(key).is_none() && !random.one_in(4)).unwrap_or_else(|| object.unused_key())
}

/// Returns a value of another type that resembles the one it replaces: "5" for 5, [x] for x.
fn value_of_type(kind: JsonType, good: &Value, random: &mut SampleRng) -> Value {
    match kind {
        JsonType::Null => Value::Null,
        JsonType::Boolean => Value::Bool(random.one_in(2)),
        JsonType::Integer => json_integer(random.between(-3, 1000)),
        JsonType::Number => json_float(good.as_f64().filter(|f| f.abs() < 1e12).unwrap_or_default().trunc() + 0.5),
        JsonType::String if good.is_number() || good.is_boolean() => Value::String(good.to_string()),
        JsonType::String => Value::String(random_text(random.length(0, 12), random)),
        JsonType::Array => Value::Array(if random.one_in(4) { vec![] } else { vec![good.clone()] }),
        JsonType::Object if random.one_in(4) => Value::Object(Map::new()),
        JsonType::Object => Value::Object(Map::from_iter([(String::from("value"), good.clone())])),
    }
}

/// Returns a value of the same type close to an allowed one.
fn near_miss(value: Value, random: &mut SampleRng) -> Value {
    match value {
        Value::String(s) => Value::String(match random.below(5) {
            0 => s.to_uppercase(),
            1 => format!("{s} "),
            2 => s.chars().skip(1).collect(),
            3 => format!("{s}{}", random_text(1, random)),
            _ => random_text(random.length(0, 10), random),
        }),
        Value::Number(n) => match as_integer(&n) {
            Some(n) => json_integer(n + random.between(1, 9)),
            None => json_float(n.as_f64().unwrap_or_default() + 1.0),
        },
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Array(items) => items.into_iter().chain([Value::Null]).collect(),
        Value::Null | Value::Object(_) => any_value(random),
    }
}

fn exceed_max_items(list: &ListShape, mut items: Vec<Value>, random: &mut SampleRng) -> Option<Value> {
    while items.len() <= list.max? {
        // A list of unique items needs a new item; otherwise a copy is cheaper.
        let copy = items.first().filter(|_| !list.unique && list.prefix.is_empty()).cloned();
        items.push(copy.or_else(|| draw::draw_value(list.item_at(items.len()), random))?);
    }
    Some(Value::Array(items))
}

fn repeat_item(list: &ListShape, mut items: Vec<Value>, random: &mut SampleRng) -> Option<Value> {
    let again = items.first().cloned().or_else(|| draw::draw_value(list.item_at(0), random))?;
    if list.max == Some(items.len()) {
        items.pop();
    }
    let length = (items.len() + 1).max(list.min).max(2);
    items.resize(length, again);
    Some(Value::Array(items))
}
