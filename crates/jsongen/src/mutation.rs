//! The ways to break a value, and how each is done.

use serde_json::{Map, Value};

use crate::accept::accepts;
use crate::draw::{self, Site, anything};
use crate::number::{RangeEnd, integer, real};
use crate::random::Random;
use crate::shape::{JsonType, ListShape, ObjectShape, Shape, whole};
use crate::text::{LARGEST, written};

/// One way to break a value.
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
    /// Returns the kind of mutation, for counting.
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

    /// Lists the mutations that can break a value at a site.
    pub(crate) fn at(site: &Site<'_>) -> Vec<Self> {
        // A branch's own type is not a fault where another branch allows it.
        let types = JsonType::ALL.into_iter().filter(|&kind| !site.is_branch && !site.shape.allows(kind));
        let mut all: Vec<Self> = types.map(Self::WrongType).collect();
        let bounds = |low: bool, high: bool| [(low, Self::BelowMinimum), (high, Self::AboveMaximum)];
        let possible = match site.shape {
            Shape::Any | Shape::Never | Shape::Null | Shape::Boolean | Shape::AnyOf(_) | Shape::OneOf(_) => vec![],
            Shape::Integer(range) => {
                let bounds = bounds(range.bounds.low.is_some(), range.bounds.high.is_some());
                bounds.into_iter().chain([(range.multiple_of > 1, Self::NotAMultiple)]).collect()
            }
            Shape::Number(range) => bounds(range.low.is_some(), range.high.is_some()).into(),
            Shape::Text(text) => vec![
                (text.pattern.is_some(), Self::BreaksPattern),
                (text.min > 0, Self::TooShort),
                (text.max.is_some_and(|max| max < LARGEST), Self::TooLong),
            ],
            Shape::Choice(_) => vec![(true, Self::OutsideEnum)],
            Shape::List(list) => vec![
                (list.min > 0, Self::TooFewItems),
                (list.max.is_some_and(|max| max < LARGEST), Self::TooManyItems),
                (list.unique && list.max.is_none_or(|max| max > 1), Self::RepeatsItem),
            ],
            Shape::Object(object) => {
                let missing = object.fields.iter().map(|field| (field.required, Self::MissingKey(field.name.clone())));
                missing.chain([(matches!(*object.extra, Shape::Never), Self::ExtraKey)]).collect()
            }
        };
        all.extend(possible.into_iter().filter(|(possible, _)| *possible).map(|(_, mutation)| mutation));
        all
    }

    /// Returns a broken replacement for `good`; `None` where there is none after all, as of a pattern that matches everything.
    pub(crate) fn apply(&self, shape: &Shape, good: &Value, random: &mut Random) -> Option<Value> {
        Some(match (self, shape) {
            (Self::MissingKey(key), _) => {
                let mut map = good.as_object()?.clone();
                map.shift_remove(key)?;
                Value::Object(map)
            }
            (Self::ExtraKey, Shape::Object(object)) => {
                let mut map = good.as_object()?.clone();
                map.insert(stray_key(object, random), anything(random));
                Value::Object(map)
            }
            (Self::WrongType(kind), _) => of_type(*kind, good, random),
            (Self::BelowMinimum, Shape::Integer(range)) => range.beyond(RangeEnd::Low, random)?,
            (Self::BelowMinimum, Shape::Number(bounds)) => bounds.beyond(RangeEnd::Low, random)?,
            (Self::AboveMaximum, Shape::Integer(range)) => range.beyond(RangeEnd::High, random)?,
            (Self::AboveMaximum, Shape::Number(bounds)) => bounds.beyond(RangeEnd::High, random)?,
            (Self::NotAMultiple, Shape::Integer(range)) => integer(whole(good.as_number()?)? + random.between(1, range.multiple_of - 1)),
            (Self::OutsideEnum, Shape::Choice(choices)) => {
                (0..16).map(|_| neighbour(random.pick(choices).clone(), random)).find(|other| !accepts(shape, other))?
            }
            (Self::BreaksPattern, Shape::Text(text)) => text.spoiled(good.as_str()?, random)?.into(),
            (Self::TooShort, Shape::Text(text)) => good.as_str()?.chars().take(random.below(text.min)).collect::<String>().into(),
            (Self::TooLong, Shape::Text(text)) => text.longer(good.as_str()?, random)?.into(),
            (Self::TooFewItems, Shape::List(list)) => good.as_array()?.iter().take(random.below(list.min)).cloned().collect(),
            (Self::TooManyItems, Shape::List(list)) => too_many(list, good.as_array()?.clone(), random)?,
            (Self::RepeatsItem, Shape::List(list)) => repeated(list, good.as_array()?.clone(), random)?,
            _ => return None,
        })
    }
}

/// Returns a misspelling of a real key, which is what models produce, or now and then any other key.
fn stray_key(object: &ObjectShape, random: &mut Random) -> String {
    let misspelt = object.fields.get(random.below(object.fields.len())).map(|field| match random.below(4) {
        0 => field.name.replace('_', ""),
        1 => field.name.to_uppercase(),
        2 => format!("{}s", field.name),
        _ => format!("{}_", field.name),
    });
    misspelt.filter(|key| object.field(key).is_none() && !random.one_in(4)).unwrap_or_else(|| object.free_name())
}

/// Returns a value of another type that looks much like the one it replaces: "5" for 5, [x] for x.
fn of_type(kind: JsonType, good: &Value, random: &mut Random) -> Value {
    match kind {
        JsonType::Null => Value::Null,
        JsonType::Boolean => Value::Bool(random.one_in(2)),
        JsonType::Integer => integer(random.between(-3, 1000)),
        JsonType::Number => real(good.as_f64().filter(|f| f.abs() < 1e12).unwrap_or_default().trunc() + 0.5),
        JsonType::String if good.is_number() || good.is_boolean() => Value::String(good.to_string()),
        JsonType::String => Value::String(written(random.length(0, 12), random)),
        JsonType::Array => Value::Array(if random.one_in(4) { vec![] } else { vec![good.clone()] }),
        JsonType::Object if random.one_in(4) => Value::Object(Map::new()),
        JsonType::Object => Value::Object(Map::from_iter([(String::from("value"), good.clone())])),
    }
}

/// Returns a value of the same type near an allowed one.
fn neighbour(value: Value, random: &mut Random) -> Value {
    match value {
        Value::String(s) => Value::String(match random.below(5) {
            0 => s.to_uppercase(),
            1 => format!("{s} "),
            2 => s.chars().skip(1).collect(),
            3 => format!("{s}{}", written(1, random)),
            _ => written(random.length(0, 10), random),
        }),
        Value::Number(n) => match whole(&n) {
            Some(n) => integer(n + random.between(1, 9)),
            None => real(n.as_f64().unwrap_or_default() + 1.0),
        },
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Array(items) => items.into_iter().chain([Value::Null]).collect(),
        Value::Null | Value::Object(_) => anything(random),
    }
}

fn too_many(list: &ListShape, mut items: Vec<Value>, random: &mut Random) -> Option<Value> {
    while items.len() <= list.max? {
        // Fresh items keep a list of unique items unique; for the rest a copy is as good and much cheaper.
        let copy = items.first().filter(|_| !list.unique && list.prefix.is_empty()).cloned();
        items.push(copy.or_else(|| draw::value(list.item_at(items.len()), random))?);
    }
    Some(Value::Array(items))
}

fn repeated(list: &ListShape, mut items: Vec<Value>, random: &mut Random) -> Option<Value> {
    let again = items.first().cloned().or_else(|| draw::value(list.item_at(0), random))?;
    if list.max == Some(items.len()) {
        items.pop();
    }
    let length = (items.len() + 1).max(list.min).max(2);
    items.resize(length, again);
    Some(Value::Array(items))
}
