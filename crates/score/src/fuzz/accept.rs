//! Does a value have a shape? The generator checks its own work with this, sample by sample.

use serde_json::Value;

use super::number::whole;
use super::shape::{Extra, List, Object, Shape, Text};

pub(super) fn accepts(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Any, _) | (Shape::Null, Value::Null) | (Shape::Boolean, Value::Bool(_)) => true,
        (Shape::Integer(range), Value::Number(n)) => range.accepts(n),
        (Shape::Number(range), Value::Number(n)) => range.accepts(n),
        (Shape::Text(text), Value::String(s)) => text.accepts(s),
        (Shape::List(list), Value::Array(items)) => list.accepts(items),
        (Shape::Object(object), Value::Object(map)) => object.accepts(map),
        (Shape::Choice(choices), _) => choices.iter().any(|choice| same(choice, value)),
        (Shape::AnyOf(branches), _) => branches.iter().any(|branch| accepts(branch, value)),
        (Shape::OneOf(branches), _) => branches.iter().filter(|branch| accepts(branch, value)).count() == 1,
        _ => false,
    }
}

impl Text {
    pub(super) fn fits(&self, s: &str) -> bool {
        // Most strings are unbounded: count code points only where somebody asks.
        if self.min == 0 && self.max.is_none() {
            return true;
        }
        let length = s.chars().count();
        self.min <= length && self.max.is_none_or(|max| length <= max)
    }

    pub(super) fn matches(&self, s: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(s))
    }

    pub(super) fn accepts(&self, s: &str) -> bool {
        self.fits(s) && self.matches(s)
    }
}

impl List {
    fn accepts(&self, items: &[Value]) -> bool {
        self.min <= items.len()
            && self.max.is_none_or(|max| items.len() <= max)
            && (!self.unique || all_different(items))
            && items.iter().all(|item| accepts(&self.item, item))
    }
}

impl Object {
    fn accepts(&self, map: &serde_json::Map<String, Value>) -> bool {
        let mut known = 0;
        for field in &self.fields {
            match map.get(&field.name) {
                Some(value) if !accepts(&field.shape, value) => return false,
                Some(_) => known += 1,
                None if field.required => return false,
                None => {}
            }
        }
        match &self.extra {
            Extra::Free => true,
            Extra::Forbidden => known == map.len(),
            Extra::Shaped(shape) => {
                let named = |key: &String| self.fields.iter().any(|field| field.name == *key);
                map.iter().all(|(key, value)| named(key) || accepts(shape, value))
            }
        }
    }
}

pub(super) fn all_different(items: &[Value]) -> bool {
    items.iter().enumerate().all(|(i, item)| items[..i].iter().all(|earlier| !same(earlier, item)))
}

/// Equality of JSON Schema: 1 and 1.0 are the same number.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (whole(a), whole(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b))),
        _ => a == b,
    }
}
