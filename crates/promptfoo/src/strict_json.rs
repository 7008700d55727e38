//! JSON as fast as it can be read, without places. A file with a key twice is refused, so that it is read again with places.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Reads a JSON text; `None` if it is not JSON, or an object has a key twice.
pub(crate) fn parse_unique(text: &str) -> Option<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = UniqueKeys.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok().map(|()| value)
}

#[derive(Clone, Copy)]
struct UniqueKeys;

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        // As JavaScript reads it.
        Ok(i64::try_from(value).map_or_else(|_| Number::from_f64(value as f64).map_or(Value::Null, Value::Number), Value::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = vec![];
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if fields.insert(key, entries.next_value_seed(self)?).is_some() {
                return Err(serde::de::Error::custom("a key is there twice"));
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_unique() {
        assert_eq!(parse_unique("[{\"a\": [1, -2, 1.5, null, true, \"x\"]}]"), Some(json!([{"a": [1, -2, 1.5, null, true, "x"]}])));
        assert_eq!(parse_unique("18446744073709551615"), Some(json!(18446744073709551615.0)));
        for wrong in ["{\"a\": 1, \"a\": 2}", "[1", "[1] x", "- a"] {
            assert_eq!(parse_unique(wrong), None, "{wrong}");
        }
    }
}
