//! Parts of a JSON value that a reduction removes: fields of objects and items of lists, at any depth.

use serde_json::{Map, Value};

/// Most parts of a value that are numbered; deeper or later ones stay.
const MAX_PARTS: usize = 400;

/// Returns the number of removable parts of a value.
pub(super) fn count_parts(value: &Value) -> usize {
    let mut n = 0;
    drop(rebuild(value, &mut n, &|_| true));
    n
}

/// Returns the value with only some of its parts. Parts inside of a removed one go with it.
pub(super) fn with_parts(value: &Value, kept: &[usize]) -> Value {
    rebuild(value, &mut 0, &|part| kept.binary_search(&part).is_ok())
}

/// Copies a value; every field and item that has a number is kept if `keeps` says so. Numbers count up in reading order.
fn rebuild(value: &Value, n: &mut usize, keeps: &dyn Fn(usize) -> bool) -> Value {
    let number = |n: &mut usize| {
        let own = (*n < MAX_PARTS).then_some(*n);
        *n += usize::from(own.is_some());
        own
    };
    match value {
        Value::Array(items) => {
            let mut left = vec![];
            for item in items {
                let is_kept = number(n).is_none_or(keeps);
                let item = rebuild(item, n, keeps);
                if is_kept {
                    left.push(item);
                }
            }
            Value::Array(left)
        }
        Value::Object(fields) => {
            let mut left = Map::new();
            for (name, field) in fields {
                let is_kept = number(n).is_none_or(keeps);
                let field = rebuild(field, n, keeps);
                if is_kept {
                    left.insert(name.clone(), field);
                }
            }
            Value::Object(left)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_are_fields_and_items_at_any_depth() {
        let value = json!({ "a": 1, "b": [{ "c": 2, "d": 3 }, 4] });
        assert_eq!(count_parts(&value), 6);
        assert_eq!(with_parts(&value, &[0, 1, 2, 3, 4, 5]), value);
        assert_eq!(with_parts(&value, &[1, 2, 4]), json!({ "b": [{ "d": 3 }] }));
        assert_eq!(with_parts(&value, &[4]), json!({}), "a part of a removed part goes with it");
        assert_eq!((count_parts(&json!("x")), count_parts(&json!(vec![0; 2 * MAX_PARTS]))), (0, MAX_PARTS));
    }
}
