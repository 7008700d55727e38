//! Places inside a shape and inside its values.

use serde_json::Value;

use super::shape::{Extra, Shape};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    /// The first item of a list; breaking one is as good as breaking any.
    Item,
    /// One alternative of the shape; the value stays where it is.
    Branch(usize),
}

impl Step {
    /// The rest of the way if it leads through this key.
    pub(super) fn into_key<'t>(way: &'t [Self], key: &str) -> Option<&'t [Self]> {
        match way {
            [Self::Key(first), rest @ ..] if first == key => Some(rest),
            _ => None,
        }
    }
}

/// The way as a JSON pointer into the value.
pub(super) fn pointer(way: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => format!("/{}", escaped(key)),
        Step::Item => "/0".into(),
        Step::Branch(_) => String::new(),
    };
    way.iter().map(step).collect()
}

pub(super) fn shape_at<'s>(shape: &'s Shape, way: &[Step]) -> Option<&'s Shape> {
    let Some((step, rest)) = way.split_first() else { return Some(shape) };
    let next = match (shape, step) {
        (Shape::List(list), Step::Item) => &list.item,
        (Shape::AnyOf(branches) | Shape::OneOf(branches), Step::Branch(i)) => branches.get(*i)?,
        (Shape::Object(object), Step::Key(key)) => match object.fields.iter().find(|field| field.name == *key) {
            Some(field) => &field.shape,
            None => match &object.extra {
                Extra::Shaped(shape) => shape,
                Extra::Free | Extra::Forbidden => return None,
            },
        },
        _ => return None,
    };
    shape_at(next, rest)
}

pub(super) fn value_at<'v>(value: &'v mut Value, way: &[Step]) -> Option<&'v mut Value> {
    way.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key.as_str()),
        Step::Item => value.get_mut(0),
        Step::Branch(_) => Some(value),
    })
}

/// A key as a step of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
