//! Parsed form of a schema: the set of values it accepts.

use std::sync::Arc;

use serde_json::{Number, Value};

use crate::pattern::StringPattern;

#[derive(Clone, Debug)]
pub(crate) enum ValueShape {
    Any,
    /// No value: `false`, or a recursive reference that was cut off.
    Never,
    Null,
    Boolean,
    Integer(IntegerShape),
    Number(NumberBounds<f64>),
    Text(TextShape),
    List(ListShape),
    Object(ObjectShape),
    Choice(Vec<Value>),
    AnyOf(Vec<ValueShape>),
    OneOf(Vec<ValueShape>),
}

/// Optional inclusive limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NumberBounds<T> {
    pub(crate) low: Option<T>,
    pub(crate) high: Option<T>,
}

impl<T: PartialOrd + Copy> NumberBounds<T> {
    pub(crate) fn contains(&self, value: T) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > high)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegerShape {
    pub(crate) bounds: NumberBounds<i128>,
    /// Default for a missing bound. Values beyond it are still valid.
    pub(crate) usual: (i128, i128),
    pub(crate) multiple_of: i128,
}

/// Lengths count code points, as JSON Schema does.
#[derive(Clone, Debug)]
pub(crate) struct TextShape {
    pub(crate) min: usize,
    pub(crate) max: Option<usize>,
    pub(crate) pattern: Option<Arc<StringPattern>>,
    /// Used if there is no pattern. Validators do not check it.
    pub(crate) format: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct ListShape {
    /// Shapes of the first items.
    pub(crate) prefix: Vec<ValueShape>,
    pub(crate) item: Box<ValueShape>,
    pub(crate) min: usize,
    pub(crate) max: Option<usize>,
    pub(crate) unique: bool,
}

impl ListShape {
    pub(crate) fn item_at(&self, index: usize) -> &ValueShape {
        self.prefix.get(index).unwrap_or(&self.item)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ObjectShape {
    pub(crate) fields: Vec<FieldShape>,
    /// Shape of values under other keys; `Never` if other keys are forbidden.
    pub(crate) extra: Box<ValueShape>,
}

impl ObjectShape {
    pub(crate) fn field(&self, key: &str) -> Option<&FieldShape> {
        self.fields.iter().find(|field| field.name == key)
    }

    /// Returns a key that is not among the fields.
    pub(crate) fn unused_key(&self) -> String {
        let mut name = String::from("extra");
        while self.field(&name).is_some() {
            name.push('_');
        }
        name
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FieldShape {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) shape: ValueShape,
}

/// Types of JSON Schema. In a mutation, `Number` means a number with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    pub(crate) const ALL: [Self; 7] = [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    /// Returns the JSON Schema name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Returns the type of a value; 1.0 is an integer.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(n) if as_integer(n).is_some() => Self::Integer,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

/// Returns the value of a JSON number if it is an integer.
pub(crate) fn as_integer(n: &Number) -> Option<i128> {
    n.as_i128().or_else(|| n.as_f64().filter(|f| f.fract() == 0.0).map(|f| f as i128))
}

impl ValueShape {
    /// Reports whether a value of this type could have this shape.
    pub(crate) fn allows(&self, kind: JsonType) -> bool {
        match self {
            Self::Any => true,
            Self::Never => false,
            Self::Null => kind == JsonType::Null,
            Self::Boolean => kind == JsonType::Boolean,
            Self::Integer(_) => kind == JsonType::Integer,
            Self::Number(_) => matches!(kind, JsonType::Integer | JsonType::Number),
            Self::Text(_) => kind == JsonType::String,
            Self::List(_) => kind == JsonType::Array,
            Self::Object(_) => kind == JsonType::Object,
            Self::Choice(values) => values.iter().any(|value| JsonType::of(value) == kind),
            Self::AnyOf(branches) | Self::OneOf(branches) => branches.iter().any(|branch| branch.allows(kind)),
        }
    }
}
