//! One mutation: an edit that turns a valid value into one that is invalid for a known reason.

use serde_json::{Map, Value};

use super::accept::accepts;
use super::dice::Dice;
use super::draw::{self, anything};
use super::number::{integer, real};
use super::shape::{Kind, List, Object, Shape};
use super::site::{Fault, Site};
use super::step::{Step, pointer, shape_at, value_at};
use super::text::{LARGEST, written};
use super::why::Why;

/// Kept apart from the value, so that shrinking can make the rest smaller and apply it again.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    way: Vec<Step>,
    change: Change,
    pub(super) why: Why,
}

#[derive(Clone, Debug)]
enum Change {
    Put(Value),
    Remove(String),
    Add(String, Value),
}

impl Edit {
    /// The edited value, if the place is there and the result really is invalid.
    pub(super) fn apply(&self, shape: &Shape, valid: &Value) -> Option<Value> {
        let mut value = valid.clone();
        let place = value_at(&mut value, &self.way)?;
        match &self.change {
            Change::Put(new) => *place = new.clone(),
            Change::Remove(key) => drop(place.as_object_mut()?.shift_remove(key)?),
            Change::Add(key, new) => drop(place.as_object_mut()?.insert(key.clone(), new.clone())),
        }
        (!accepts(shape, &value)).then_some(value)
    }
}

/// An edit for this site of a valid value; nothing where the site cannot be broken after all (a pattern that matches everything).
pub(super) fn edit(shape: &Shape, site: &Site, valid: &mut Value, dice: &mut Dice<'_>) -> Option<Edit> {
    let target = shape_at(shape, &site.way)?;
    let value = value_at(valid, &site.way)?;
    let at = pointer(&site.way);
    let put = |value: Value, why: Why| (Change::Put(value), why);
    let (change, why) = match (&site.fault, target) {
        (Fault::Missing(key), _) => (Change::Remove(key.clone()), Why::MissingKey { at, key: key.clone() }),
        (Fault::Extra, Shape::Object(object)) => {
            let key = stray_key(object, dice);
            (Change::Add(key.clone(), anything(dice)), Why::ExtraKey { at, key })
        }
        (Fault::Type(kind), _) => {
            let other = of_kind(*kind, value, dice);
            let root = site.way.is_empty();
            let why = Why::WrongType { at, want: target.wanted(), got: *kind };
            put(other, if root { Why::NotAnObject { got: *kind } } else { why })
        }
        (Fault::Below, Shape::Integer(range)) => too_low(range.below(dice)?, at),
        (Fault::Below, Shape::Number(range)) => too_low(range.below(dice)?, at),
        (Fault::Above, Shape::Integer(range)) => too_high(range.above(dice)?, at),
        (Fault::Above, Shape::Number(range)) => too_high(range.above(dice)?, at),
        (Fault::Outside, Shape::Choice(choices)) => {
            let other = (0..16).map(|_| near(dice.pick(choices).clone(), dice)).find(|other| !accepts(target, other))?;
            put(other.clone(), Why::OutsideEnum { at, got: other.to_string() })
        }
        (Fault::Pattern, Shape::Text(text)) => {
            let pattern = text.pattern.as_ref()?.source.clone();
            put(Value::String(text.spoil(value.as_str()?, dice)?), Why::BreaksPattern { at, pattern })
        }
        (Fault::Short, Shape::Text(text)) => put(Value::String(text.shorter(value.as_str()?, dice)?), Why::TooShort { at, min: text.min }),
        (Fault::Long, Shape::Text(text)) => put(Value::String(text.longer(value.as_str()?, dice)?), Why::TooLong { at, max: text.max? }),
        (Fault::Few, Shape::List(list)) => {
            let keep = dice.below(list.min);
            put(Value::Array(value.as_array()?.iter().take(keep).cloned().collect()), Why::TooFewItems { at, min: list.min })
        }
        (Fault::Many, Shape::List(list)) => put(too_many(list, value.as_array()?, dice)?, Why::TooManyItems { at, max: list.max? }),
        (Fault::Twice, Shape::List(list)) => put(repeated(list, value.as_array()?, dice)?, Why::RepeatsItem { at }),
        _ => return None,
    };
    Some(Edit { way: site.way.clone(), change, why })
}

fn too_low(value: Value, at: String) -> (Change, Why) {
    let got = value.to_string();
    (Change::Put(value), Why::Below { at, got })
}

fn too_high(value: Value, at: String) -> (Change, Why) {
    let got = value.to_string();
    (Change::Put(value), Why::Above { at, got })
}

/// A misspelling of a real key is what models produce; sometimes anything else.
fn stray_key(object: &Object, dice: &mut Dice<'_>) -> String {
    let known = |key: &str| object.fields.iter().any(|field| field.name == key);
    let misspelt = object.fields.get(dice.below(object.fields.len())).map(|field| match dice.below(4) {
        0 => camel_case(&field.name),
        1 => field.name.to_uppercase(),
        2 => format!("{}s", field.name),
        _ => format!("{}_", field.name),
    });
    misspelt.filter(|key| !known(key) && !dice.one_in(4)).unwrap_or_else(|| object.free_name())
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |joined, word| {
        let mut letters = word.chars();
        letters.next().map(|letter| format!("{joined}{}{}", letter.to_uppercase(), letters.as_str())).unwrap_or(joined)
    })
}

/// Something of another type that looks as much as possible like the value it replaces: "5" for 5, [x] for x.
fn of_kind(kind: Kind, value: &Value, dice: &mut Dice<'_>) -> Value {
    match kind {
        Kind::Null => Value::Null,
        Kind::Boolean => Value::Bool(dice.one_in(2)),
        Kind::Integer => integer(dice.between(-3, 1000)),
        Kind::Number => real(value.as_f64().filter(|f| f.abs() < 1e12).unwrap_or_default().trunc() + 0.5),
        Kind::String if value.is_number() || value.is_boolean() => Value::String(value.to_string()),
        Kind::String => Value::String(written(dice.length(0, 12), dice)),
        Kind::Array if dice.one_in(4) => Value::Array(Vec::new()),
        Kind::Array => Value::Array(vec![value.clone()]),
        Kind::Object if dice.one_in(4) => Value::Object(Map::new()),
        Kind::Object => Value::Object(Map::from_iter([(String::from("value"), value.clone())])),
    }
}

/// A neighbour of an allowed value, of the same type.
fn near(value: Value, dice: &mut Dice<'_>) -> Value {
    match value {
        Value::String(s) => Value::String(match dice.below(5) {
            0 => s.to_uppercase(),
            1 => format!("{s} "),
            2 => s.chars().skip(1).collect(),
            3 => format!("{s}{}", written(1, dice)),
            _ => written(dice.length(0, 10), dice),
        }),
        Value::Number(n) => match super::number::whole(&n) {
            Some(n) => integer(n + dice.between(1, 9)),
            None => real(n.as_f64().unwrap_or_default() + 1.0),
        },
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Array(mut items) => {
            items.push(Value::Null);
            Value::Array(items)
        }
        Value::Null | Value::Object(_) => anything(dice),
    }
}

fn too_many(list: &List, items: &[Value], dice: &mut Dice<'_>) -> Option<Value> {
    let length = list.max.filter(|&max| max < LARGEST)? + 1;
    let mut items = items.to_vec();
    while items.len() < length {
        // Fresh items keep a list of different items different; for the rest a copy is as good and much cheaper.
        let copy = items.first().filter(|_| !list.unique).cloned();
        items.push(match copy {
            Some(copy) => copy,
            None => draw::value(&list.item, &[], dice)?,
        });
    }
    Some(Value::Array(items))
}

fn repeated(list: &List, items: &[Value], dice: &mut Dice<'_>) -> Option<Value> {
    let mut items = items.to_vec();
    let again = match items.first() {
        Some(first) => first.clone(),
        None => draw::value(&list.item, &[], dice)?,
    };
    if list.max == Some(items.len()) {
        items.pop();
    }
    while items.len() < list.min.max(2) {
        items.push(again.clone());
    }
    items.push(again);
    items.truncate(list.max.unwrap_or(usize::MAX));
    Some(Value::Array(items))
}
