//! The keywords of one type: what a string, a list or an object must be like.

use serde_json::Value;

use super::bounds::Keywords;
use super::draw;
use super::parse::shape;
use super::pattern::Patterns;
use super::shape::{Extra, Field, Kind, List, Object, Shape, Text};
use super::step::escaped;
use super::text::LARGEST;
use super::unsupported::Unsupported;

pub(super) fn typed(kind: Kind, words: Keywords<'_>, patterns: &mut Patterns) -> Result<Shape, Unsupported> {
    Ok(match kind {
        Kind::Null => Shape::Null,
        Kind::Boolean => Shape::Boolean,
        Kind::Integer => Shape::Integer(words.whole()?),
        Kind::Number => Shape::Number(words.real()?),
        Kind::String => Shape::Text(text(words, patterns)?),
        Kind::Array => Shape::List(list(words, patterns)?),
        Kind::Object => Shape::Object(object(words, patterns)?),
    })
}

fn text(words: Keywords<'_>, patterns: &mut Patterns) -> Result<Text, Unsupported> {
    if words.get("format").is_some() {
        return words.refuse("format", "formats of strings are not generated; write a pattern");
    }
    let pattern = match words.get("pattern") {
        None => None,
        Some(Value::String(source)) => {
            let known = patterns.compile(source);
            Some(known.or_else(|because| words.refuse("pattern", because))?)
        }
        Some(_) => return words.refuse("pattern", "it must be a string"),
    };
    let text = Text { min: words.size("minLength")?.unwrap_or(0), max: words.size("maxLength")?, pattern };
    if text.max.is_some_and(|max| max < text.min) {
        return words.refuse("minLength", "it is greater than maxLength");
    }
    if text.min > LARGEST {
        return words.refuse("minLength", format!("strings of more than {LARGEST} characters are not generated"));
    }
    if text.pattern.is_some() && !draw::witness(&Shape::Text(text.clone())) {
        return words.refuse("pattern", "found no string that matches it within the lengths");
    }
    Ok(text)
}

fn list(words: Keywords<'_>, patterns: &mut Patterns) -> Result<List, Unsupported> {
    let item = match words.get("items") {
        None => Shape::Any,
        Some(items) => shape(items, &format!("{}/items", words.path), patterns)?,
    };
    let (min, max) = (words.size("minItems")?.unwrap_or(0), words.size("maxItems")?);
    if max.is_some_and(|max| max < min) {
        return words.refuse("minItems", "it is greater than maxItems");
    }
    if min > draw::FULL_LIST {
        return words.refuse("minItems", format!("lists of more than {} items are not generated", draw::FULL_LIST));
    }
    let list = List { item: Box::new(item), min, max, unique: words.flag("uniqueItems")? };
    if list.unique && !draw::witness(&Shape::List(list.clone())) {
        return words.refuse("uniqueItems", "found no list of different items that is long enough");
    }
    Ok(list)
}

fn object(words: Keywords<'_>, patterns: &mut Patterns) -> Result<Object, Unsupported> {
    let extra = match words.get("additionalProperties") {
        None | Some(Value::Bool(true)) => Extra::Free,
        Some(Value::Bool(false)) => Extra::Forbidden,
        Some(schema) => Extra::Shaped(Box::new(shape(schema, &format!("{}/additionalProperties", words.path), patterns)?)),
    };
    let required = required(words)?;
    let mut fields = Vec::new();
    match words.get("properties") {
        None => {}
        Some(Value::Object(properties)) => {
            for (name, schema) in properties {
                let shape = shape(schema, &format!("{}/properties/{}", words.path, escaped(name)), patterns)?;
                fields.push(Field { name: name.clone(), required: required.contains(&name.as_str()), shape });
            }
        }
        Some(_) => return words.refuse("properties", "it must be an object"),
    }
    for name in required {
        if fields.iter().all(|field| field.name != name) {
            let shape = match &extra {
                Extra::Forbidden => return words.refuse("required", format!("{name} is required but not among the properties")),
                Extra::Free => Shape::Any,
                Extra::Shaped(shape) => (**shape).clone(),
            };
            fields.push(Field { name: name.into(), required: true, shape });
        }
    }
    Ok(Object { fields, extra })
}

fn required<'a>(words: Keywords<'a>) -> Result<Vec<&'a str>, Unsupported> {
    let names = words.get("required").map_or(Some(Vec::new()), |names| names.as_array()?.iter().map(Value::as_str).collect());
    names.map_or_else(|| words.refuse("required", "it must be a list of names"), Ok)
}
