//! Limits the expanded size of typed data before it is hashed: a few nested types can expand to more structs than fit in memory.

use std::collections::BTreeMap;

use serde_json::Value;

/// Maximum nesting of structs.
const DEPTH: usize = 16;
/// Maximum number of fields after expansion.
const FIELDS: u64 = 10_000;
/// Maximum number of array dimensions of a type.
const ARRAYS: usize = 4;

/// Reason that typed data is rejected before it is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TypedDataError {
    #[error("it has no types")]
    NoTypes,
    #[error("it has no primaryType")]
    NoPrimaryType,
    #[error("its primaryType is not among its types")]
    UnknownPrimaryType,
    #[error("a type is not a list of fields")]
    NotAList,
    #[error("a field has no type")]
    NoFieldType,
    #[error("a type has an invalid name")]
    BadName,
    #[error("a type has too many nested arrays")]
    TooManyArrays,
    #[error("its types nest deeper than {DEPTH} levels")]
    TooDeep,
    #[error("it expands to more than {FIELDS} fields")]
    TooManyFields,
}

/// Fails if the types of typed data are invalid or expand beyond the limits.
pub(super) fn check_typed_data(data: &Value) -> Result<(), TypedDataError> {
    let types = data.get("types").and_then(Value::as_object).ok_or(TypedDataError::NoTypes)?;
    let primary = data.get("primaryType").and_then(Value::as_str).ok_or(TypedDataError::NoPrimaryType)?;
    if !types.contains_key(primary) {
        return Err(TypedDataError::UnknownPrimaryType);
    }
    let mut structs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, fields) in types {
        let fields = fields.as_array().ok_or(TypedDataError::NotAList)?;
        let kinds =
            fields.iter().map(|field| field.get("type").and_then(Value::as_str).ok_or(TypedDataError::NoFieldType).and_then(base_type));
        structs.insert(base_type(name)?, kinds.collect::<Result<_, _>>()?);
    }
    let mut known = BTreeMap::new();
    for name in structs.keys() {
        if type_size(&structs, &mut known, name, 0)?.0 > FIELDS {
            return Err(TypedDataError::TooManyFields);
        }
    }
    Ok(())
}

/// Returns a type without its arrays: `Order` for `Order[][3]`.
fn base_type(kind: &str) -> Result<&str, TypedDataError> {
    if !kind.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'[' | b']')) {
        return Err(TypedDataError::BadName);
    }
    let (base, arrays) = kind.find('[').map_or((kind, ""), |at| kind.split_at(at));
    if arrays.matches('[').count() > ARRAYS { Err(TypedDataError::TooManyArrays) } else { Ok(base) }
}

/// Returns the number of fields of an expanded type, and its depth. Results are memoized, so the time is linear in the size of the
/// types.
fn type_size<'t>(
    structs: &BTreeMap<&'t str, Vec<&'t str>>,
    known: &mut BTreeMap<&'t str, (u64, usize)>,
    name: &'t str,
    depth: usize,
) -> Result<(u64, usize), TypedDataError> {
    let Some(fields) = structs.get(name) else { return Ok((1, 0)) };
    let seen = known.get(name).copied();
    // Recursive types end here, too.
    if depth + seen.map_or(1, |(_, height)| height) > DEPTH {
        return Err(TypedDataError::TooDeep);
    }
    if let Some(seen) = seen {
        return Ok(seen);
    }
    let (mut weight, mut height) = (1_u64, 1);
    for field in fields {
        let (more, below) = type_size(structs, known, field, depth + 1)?;
        weight = weight.saturating_add(more);
        height = height.max(below + 1);
    }
    known.insert(name, (weight, height));
    Ok((weight, height))
}

#[cfg(test)]
mod tests {
    use super::{TypedDataError, check_typed_data};
    use serde_json::{Value, json};

    fn check_types(types: &Value) -> Result<(), TypedDataError> {
        check_typed_data(&json!({ "types": types, "primaryType": "A" }))
    }

    fn field(kind: &str) -> Value {
        json!({ "name": "x", "type": kind })
    }

    #[test]
    fn valid_typed_data_passes() {
        assert_eq!(
            check_types(&json!({ "A": [field("B[]"), field("uint256[3][]")], "B": [field("address"), field("C")], "C": [] })),
            Ok(())
        );
    }

    #[test]
    fn oversized_or_recursive_types_are_rejected() {
        let chain = |length: usize, twice: bool| {
            let mut types = json!({});
            for n in 0..length {
                let name = if n == 0 { "A".to_owned() } else { format!("T{n}") };
                let next = field(&format!("T{}", n + 1));
                types[name] = if twice { json!([next.clone(), next]) } else { json!([next]) };
            }
            types
        };
        assert_eq!(check_types(&chain(16, false)), Ok(()));
        assert_eq!(check_types(&chain(12, true)), Ok(()));
        for (types, why) in [
            (chain(17, false), "deeper"),
            (chain(2_000, true), "deeper"),
            (chain(15, true), "more than"),
            (json!({ "A": [field("A")] }), "deeper"),
            (json!({ "A": [field("B")], "B": [field("A[]")] }), "deeper"),
            (json!({ "A": [field(&format!("uint8{}", "[]".repeat(5)))] }), "arrays"),
            (json!({ "A": [field(&"(".repeat(1000))] }), "invalid name"),
            (json!({ "A": 1 }), "list"),
            (json!({ "A": [1] }), "no type"),
            (json!({ "B": [] }), "primaryType"),
        ] {
            let said = check_types(&types).unwrap_err().to_string();
            assert!(said.contains(why), "{why}: {said}");
        }
    }
}
