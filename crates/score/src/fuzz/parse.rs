//! From JSON Schema to `Shape`; whatever is not understood comes back as `Unsupported`.

use serde_json::{Map, Value};

use super::bounds::Keywords;
use super::pattern::Patterns;
use super::shape::{Kind, Shape};
use super::typed::typed;
use super::unsupported::Unsupported;
use super::{accept, draw, merge};

/// Says nothing about which values are valid.
#[rustfmt::skip]
pub(super) fn is_note(keyword: &str) -> bool {
    keyword.starts_with("x-") || matches!(
        keyword,
        "$schema" | "$id" | "$comment" | "$defs" | "definitions" | "title" | "description" | "default" | "examples" | "example"
            | "deprecated" | "readOnly" | "writeOnly"
    )
}

#[rustfmt::skip]
fn is_understood(keyword: &str) -> bool {
    matches!(
        keyword,
        "type" | "enum" | "const" | "format" | "anyOf" | "oneOf" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
            | "pattern" | "minLength" | "maxLength" | "items" | "minItems" | "maxItems" | "uniqueItems"
            | "properties" | "required" | "additionalProperties"
    )
}

/// A tool takes an object; anything else in the place of its schema is a mistake.
pub(super) fn tool(schema: &Value) -> Result<Shape, Unsupported> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(Unsupported::new("type", "", "the arguments of a tool must be an object"));
    }
    shape(schema, "", &mut Patterns::default())
}

pub(super) fn shape(schema: &Value, path: &str, patterns: &mut Patterns) -> Result<Shape, Unsupported> {
    let map = match schema {
        Value::Bool(true) => return Ok(Shape::Any),
        Value::Object(map) => map,
        Value::Bool(false) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(Unsupported::new("schema", path, "it must be an object of keywords, and `false` allows no value"));
        }
    };
    let words = Keywords { map, path };
    if let Some(unknown) = map.keys().find(|word| !is_understood(word) && !is_note(word)) {
        return words.refuse(unknown, "this keyword is not understood");
    }
    match (words.get("anyOf"), words.get("oneOf")) {
        (Some(_), Some(_)) => words.refuse("oneOf", "it stands beside anyOf"),
        (Some(branches), None) => Ok(Shape::AnyOf(alternatives("anyOf", branches, words, patterns)?)),
        (None, Some(branches)) => one_of(alternatives("oneOf", branches, words, patterns)?, words),
        (None, None) => plain(words, patterns),
    }
}

fn alternatives(word: &str, branches: &Value, words: Keywords<'_>, patterns: &mut Patterns) -> Result<Vec<Shape>, Unsupported> {
    let Some(branches) = branches.as_array().filter(|branches| !branches.is_empty()) else {
        return words.refuse(word, "it must be a list of schemas");
    };
    let beside: Map<String, Value> =
        words.map.iter().filter(|(key, _)| *key != word && !is_note(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let each = branches.iter().enumerate().map(|(i, branch)| {
        let path = format!("{}/{word}/{i}", words.path);
        shape(&merge::into(&beside, branch, &path)?, &path, patterns)
    });
    each.collect()
}

fn one_of(branches: Vec<Shape>, words: Keywords<'_>) -> Result<Shape, Unsupported> {
    let shape = Shape::OneOf(branches);
    if draw::witness(&shape) { Ok(shape) } else { words.refuse("oneOf", "found no value that only one branch accepts") }
}

fn plain(words: Keywords<'_>, patterns: &mut Patterns) -> Result<Shape, Unsupported> {
    let kinds = kinds(words)?;
    let shape = match kinds.as_slice() {
        // Without a type, each keyword binds only values of its own type and leaves the others free.
        [] if only_choices(words) => Shape::Any,
        [] => union(&Kind::ALL, words, patterns)?,
        [kind] => typed(*kind, words, patterns)?,
        several => union(several, words, patterns)?,
    };
    let choices = match (words.get("enum"), words.get("const")) {
        (None, None) => return Ok(shape),
        (Some(Value::Array(choices)), None) => choices.clone(),
        (None, Some(only)) => vec![only.clone()],
        (Some(_), None) => return words.refuse("enum", "it must be a list"),
        (Some(_), Some(_)) => return words.refuse("const", "it stands beside enum"),
    };
    let fitting: Vec<Value> = choices.into_iter().filter(|choice| accept::accepts(&shape, choice)).collect();
    if fitting.is_empty() { words.refuse("enum", "none of its values fits the other keywords") } else { Ok(Shape::Choice(fitting)) }
}

fn only_choices(words: Keywords<'_>) -> bool {
    words.map.keys().all(|word| matches!(word.as_str(), "enum" | "const") || is_note(word))
}

fn union(kinds: &[Kind], words: Keywords<'_>, patterns: &mut Patterns) -> Result<Shape, Unsupported> {
    let apart = kinds.iter().filter(|&&kind| kind != Kind::Integer || !kinds.contains(&Kind::Number));
    let branches = apart.map(|&kind| typed(kind, words, patterns));
    branches.collect::<Result<_, _>>().map(Shape::AnyOf)
}

fn kinds(words: Keywords<'_>) -> Result<Vec<Kind>, Unsupported> {
    let names = match words.get("type") {
        None => return Ok(Vec::new()),
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
    };
    let kinds: Option<Vec<Kind>> = names.iter().map(|name| name.as_str().and_then(Kind::from_name)).collect();
    match kinds {
        Some(kinds) if !kinds.is_empty() => Ok(kinds),
        _ => words.refuse("type", "it names no type of JSON Schema"),
    }
}
