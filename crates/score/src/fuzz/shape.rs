//! What a schema means: the closed set of shapes a value can be asked to have.

use std::sync::Arc;

use serde_json::Value;

use super::number::{Real, Whole};
use super::pattern::Pattern;

#[derive(Clone, Debug)]
pub(super) enum Shape {
    Any,
    Null,
    Boolean,
    Integer(Whole),
    Number(Real),
    Text(Text),
    List(List),
    Object(Object),
    Choice(Vec<Value>),
    AnyOf(Vec<Shape>),
    OneOf(Vec<Shape>),
}

/// Lengths count code points, as JSON Schema does.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) min: usize,
    pub(super) max: Option<usize>,
    pub(super) pattern: Option<Arc<Pattern>>,
}

#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) item: Box<Shape>,
    pub(super) min: usize,
    pub(super) max: Option<usize>,
    pub(super) unique: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) fields: Vec<Field>,
    pub(super) extra: Extra,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) shape: Shape,
}

/// What keys beyond the named ones may hold.
#[derive(Clone, Debug)]
pub(super) enum Extra {
    Forbidden,
    Free,
    Shaped(Box<Shape>),
}

/// The type names of JSON Schema; `Number` as a fault means one with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(super) const ALL: [Self; 7] = [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    /// The name JSON Schema gives it.
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

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(n) if super::number::whole(n).is_some() => Self::Integer,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

impl Shape {
    /// Could some value of this kind have this shape?
    pub(super) fn allows(&self, kind: Kind) -> bool {
        match self {
            Self::Any => true,
            Self::Null => kind == Kind::Null,
            Self::Boolean => kind == Kind::Boolean,
            Self::Integer(_) => kind == Kind::Integer,
            Self::Number(_) => matches!(kind, Kind::Integer | Kind::Number),
            Self::Text(_) => kind == Kind::String,
            Self::List(_) => kind == Kind::Array,
            Self::Object(_) => kind == Kind::Object,
            Self::Choice(values) => values.iter().any(|value| Kind::of(value) == kind),
            Self::AnyOf(branches) | Self::OneOf(branches) => branches.iter().any(|branch| branch.allows(kind)),
        }
    }

    /// The allowed types in words, for messages.
    pub(super) fn wanted(&self) -> String {
        let integers_are_numbers = self.allows(Kind::Number);
        let allowed = Kind::ALL.into_iter().filter(|&kind| self.allows(kind));
        let names = allowed.filter(|&kind| kind != Kind::Integer || !integers_are_numbers).map(Kind::name);
        names.collect::<Vec<_>>().join(" or ")
    }
}
