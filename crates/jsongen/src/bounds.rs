//! Reads the keywords that bound a number or a length. The meta-schema has already validated their types.

use serde_json::{Map, Number, Value};

use crate::number::MAX_SAFE_INTEGER;
use crate::shape::{NumberBounds, as_integer};

/// Far outside every JSON integer, far inside i128, so that stepping over a bound cannot overflow.
const MAX_BOUND: i128 = 1 << 100;

pub(crate) fn read_size(map: &Map<String, Value>, keyword: &str) -> Option<usize> {
    map.get(keyword)?.as_number().and_then(as_integer).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

pub(crate) fn integer_bounds(map: &Map<String, Value>) -> NumberBounds<i128> {
    let rounded = |keyword: &str, round: fn(f64) -> f64| {
        let n = map.get(keyword)?.as_number()?;
        Some(n.as_i128().unwrap_or_else(|| round(n.as_f64().unwrap_or_default()) as i128).clamp(-MAX_BOUND, MAX_BOUND))
    };
    let low = [rounded("minimum", f64::ceil), rounded("exclusiveMinimum", f64::floor).map(|n| n + 1)];
    let high = [rounded("maximum", f64::floor), rounded("exclusiveMaximum", f64::ceil).map(|n| n - 1)];
    NumberBounds { low: low.into_iter().flatten().max(), high: high.into_iter().flatten().min() }
}

/// Returns inclusive bounds: an exclusive end moves to the next double. Fails with the keyword whose number no double represents exactly.
pub(crate) fn float_bounds(map: &Map<String, Value>) -> Result<NumberBounds<f64>, &'static str> {
    let end = |keyword: &'static str, moved: fn(f64) -> f64| {
        let exactly = |n: &Number| n.as_f64().filter(|&at| as_integer(n).is_none_or(|exact| at as i128 == exact));
        let number = map.get(keyword).and_then(Value::as_number);
        number.map(|n| exactly(n).map(moved).ok_or(keyword)).transpose()
    };
    let low = [end("minimum", |at| at)?, end("exclusiveMinimum", f64::next_up)?];
    let high = [end("maximum", |at| at)?, end("exclusiveMaximum", f64::next_down)?];
    Ok(NumberBounds { low: low.into_iter().flatten().reduce(f64::max), high: high.into_iter().flatten().reduce(f64::min) })
}

/// Returns the range of an integer format (schemars writes Rust's integer types). Validators do not check it.
pub(crate) fn integer_format_range(map: &Map<String, Value>) -> Option<(i128, i128)> {
    Some(match map.get("format").and_then(Value::as_str) {
        None => (-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER),
        Some("int8") => (i8::MIN.into(), i8::MAX.into()),
        Some("int16") => (i16::MIN.into(), i16::MAX.into()),
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int64" | "int") => (i64::MIN.into(), i64::MAX.into()),
        Some("uint8") => (0, u8::MAX.into()),
        Some("uint16") => (0, u16::MAX.into()),
        Some("uint32") => (0, u32::MAX.into()),
        Some("uint64" | "uint") => (0, u64::MAX.into()),
        Some(_) => return None,
    })
}
