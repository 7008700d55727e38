//! Why a value is invalid: the one mutation it went through and where.

use std::fmt;

use super::shape::Kind;

/// `at` is a JSON pointer into the value; empty for the value itself. A bad item of a list shows as a pointer ending in `/0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    NotAnObject { got: Kind },
    MissingKey { at: String, key: String },
    ExtraKey { at: String, key: String },
    WrongType { at: String, want: String, got: Kind },
    Below { at: String, got: String },
    Above { at: String, got: String },
    OutsideEnum { at: String, got: String },
    BreaksPattern { at: String, pattern: String },
    TooShort { at: String, min: usize },
    TooLong { at: String, max: usize },
    TooFewItems { at: String, min: usize },
    TooManyItems { at: String, max: usize },
    RepeatsItem { at: String },
}

impl Why {
    /// The mutation without its place, for counting.
    pub fn mutation(&self) -> &'static str {
        match self {
            Self::NotAnObject { .. } => "not an object",
            Self::MissingKey { .. } => "missing key",
            Self::ExtraKey { .. } => "extra key",
            Self::WrongType { .. } => "wrong type",
            Self::Below { .. } => "below the minimum",
            Self::Above { .. } => "above the maximum",
            Self::OutsideEnum { .. } => "outside the enum",
            Self::BreaksPattern { .. } => "breaks the pattern",
            Self::TooShort { .. } => "too short",
            Self::TooLong { .. } => "too long",
            Self::TooFewItems { .. } => "too few items",
            Self::TooManyItems { .. } => "too many items",
            Self::RepeatsItem { .. } => "repeats an item",
        }
    }

    /// Where the mutation happened, as a JSON pointer into the value.
    pub fn at(&self) -> &str {
        match self {
            Self::NotAnObject { .. } => "",
            Self::MissingKey { at, .. }
            | Self::ExtraKey { at, .. }
            | Self::WrongType { at, .. }
            | Self::Below { at, .. }
            | Self::Above { at, .. }
            | Self::OutsideEnum { at, .. }
            | Self::BreaksPattern { at, .. }
            | Self::TooShort { at, .. }
            | Self::TooLong { at, .. }
            | Self::TooFewItems { at, .. }
            | Self::TooManyItems { at, .. }
            | Self::RepeatsItem { at } => at,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at().is_empty() { "the arguments" } else { self.at() };
        match self {
            Self::NotAnObject { got } => write!(f, "the arguments are {} instead of an object", got.name()),
            Self::MissingKey { key, .. } => write!(f, "{at}: required key {key} is missing"),
            Self::ExtraKey { key, .. } => write!(f, "{at}: key {key} is not allowed"),
            Self::WrongType { want, got, .. } => write!(f, "{at}: {} instead of {want}", got.name()),
            Self::Below { got, .. } => write!(f, "{at}: {got} is below the minimum"),
            Self::Above { got, .. } => write!(f, "{at}: {got} is above the maximum"),
            Self::OutsideEnum { got, .. } => write!(f, "{at}: {got} is not one of the allowed values"),
            Self::BreaksPattern { pattern, .. } => write!(f, "{at}: does not match {pattern}"),
            Self::TooShort { min, .. } => write!(f, "{at}: shorter than {min} characters"),
            Self::TooLong { max, .. } => write!(f, "{at}: longer than {max} characters"),
            Self::TooFewItems { min, .. } => write!(f, "{at}: fewer than {min} items"),
            Self::TooManyItems { max, .. } => write!(f, "{at}: more than {max} items"),
            Self::RepeatsItem { .. } => write!(f, "{at}: an item occurs twice"),
        }
    }
}
