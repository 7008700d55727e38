//! Checks a value against a shape. The generator checks its samples with this.

use serde_json::{Map, Value};

use crate::shape::{ListShape, ObjectShape, TextShape, ValueShape, as_integer};

pub(crate) fn accepts(shape: &ValueShape, value: &Value) -> bool {
    match (shape, value) {
        (ValueShape::Any, _) | (ValueShape::Null, Value::Null) | (ValueShape::Boolean, Value::Bool(_)) => true,
        (ValueShape::Integer(range), Value::Number(n)) => {
            as_integer(n).is_some_and(|n| range.bounds.contains(n) && n % range.multiple_of == 0)
        }
        (ValueShape::Number(bounds), Value::Number(n)) => n.as_f64().is_some_and(|f| bounds.contains(f)),
        (ValueShape::Text(text), Value::String(s)) => text.accepts(s),
        (ValueShape::List(list), Value::Array(items)) => list.accepts(items),
        (ValueShape::Object(object), Value::Object(map)) => object.accepts(map),
        (ValueShape::Choice(choices), _) => choices.iter().any(|choice| json_equal(choice, value)),
        (ValueShape::AnyOf(branches), _) => branches.iter().any(|branch| accepts(branch, value)),
        (ValueShape::OneOf(branches), _) => branches.iter().filter(|branch| accepts(branch, value)).count() == 1,
        _ => false,
    }
}

impl TextShape {
    pub(crate) fn length_fits(&self, s: &str) -> bool {
        // Most strings are unbounded: count code points only where a bound needs it.
        if self.min == 0 && self.max.is_none() {
            return true;
        }
        let length = s.chars().count();
        self.min <= length && self.max.is_none_or(|max| length <= max)
    }

    pub(crate) fn accepts(&self, s: &str) -> bool {
        self.length_fits(s) && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(s))
    }
}

impl ListShape {
    fn accepts(&self, items: &[Value]) -> bool {
        let repeats = || items.iter().enumerate().any(|(i, item)| items[..i].iter().any(|earlier| json_equal(earlier, item)));
        self.min <= items.len()
            && self.max.is_none_or(|max| items.len() <= max)
            && !(self.unique && repeats())
            && items.iter().enumerate().all(|(i, item)| accepts(self.item_at(i), item))
    }
}

impl ObjectShape {
    fn accepts(&self, map: &Map<String, Value>) -> bool {
        self.fields.iter().all(|field| !field.required || map.contains_key(&field.name))
            && map.iter().all(|(key, value)| accepts(self.field(key).map_or(&self.extra, |field| &field.shape), value))
    }
}

/// Compares as JSON Schema does: 1 and 1.0 are the same number.
pub(crate) fn json_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (as_integer(a), as_integer(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| json_equal(a, b))),
        _ => a == b,
    }
}
