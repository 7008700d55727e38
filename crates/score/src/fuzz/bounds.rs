//! Reading the keywords that hold a number: bounds of values and of lengths.

use serde_json::{Map, Number, Value};

use super::number::{Edge, Real, SAFE, Whole};
use super::unsupported::Unsupported;

/// Far outside every JSON integer, far inside i128, so that stepping over a bound cannot overflow.
const HUGE: i128 = 1 << 100;

/// The keywords of one schema object and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keywords<'a> {
    pub(super) map: &'a Map<String, Value>,
    pub(super) path: &'a str,
}

impl<'a> Keywords<'a> {
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.map.get(keyword)
    }

    pub(super) fn refuse<T>(&self, keyword: &str, because: impl Into<String>) -> Result<T, Unsupported> {
        Err(Unsupported::new(keyword, self.path, because))
    }

    fn number(&self, keyword: &str) -> Result<Option<&'a Number>, Unsupported> {
        match self.get(keyword) {
            None => Ok(None),
            Some(Value::Number(n)) => Ok(Some(n)),
            Some(_) => self.refuse(keyword, "it must be a number"),
        }
    }

    pub(super) fn size(&self, keyword: &str) -> Result<Option<usize>, Unsupported> {
        let size = self.number(keyword)?.map(|n| super::number::whole(n).and_then(|n| usize::try_from(n).ok()));
        size.map_or(Ok(None), |size| size.map_or_else(|| self.refuse(keyword, "it must be a whole number"), |n| Ok(Some(n))))
    }

    pub(super) fn flag(&self, keyword: &str) -> Result<bool, Unsupported> {
        match self.get(keyword) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => self.refuse(keyword, "it must be true or false"),
        }
    }

    pub(super) fn whole(&self) -> Result<Whole, Unsupported> {
        let low =
            [self.number("minimum")?.map(|n| rounded(n, f64::ceil)), self.number("exclusiveMinimum")?.map(|n| rounded(n, f64::floor) + 1)];
        let high =
            [self.number("maximum")?.map(|n| rounded(n, f64::floor)), self.number("exclusiveMaximum")?.map(|n| rounded(n, f64::ceil) - 1)];
        let (low, high) = (low.into_iter().flatten().max(), high.into_iter().flatten().min());
        match (low, high) {
            (Some(low), Some(high)) if low > high => self.refuse("minimum", "no integer lies between the bounds"),
            _ => Ok(Whole { low, high, usual: self.format()? }),
        }
    }

    pub(super) fn real(&self) -> Result<Real, Unsupported> {
        if !matches!(self.get("format").and_then(Value::as_str), None | Some("float" | "double")) {
            return self.refuse("format", "only float and double are known formats of numbers");
        }
        let edge = |keyword, open| match self.number(keyword)? {
            None => Ok(None),
            Some(n) => match n.as_f64() {
                Some(at) if super::number::whole(n).is_none_or(|exact| at as i128 == exact) => Ok(Some(Edge { at, open })),
                _ => self.refuse(keyword, "no double holds this bound"),
            },
        };
        let tighter = |a: Edge, b: Edge, low: bool| {
            let a_wins = if low { a.at > b.at } else { a.at < b.at };
            if a_wins || (a.at == b.at && a.open) { a } else { b }
        };
        let both = |a: Option<Edge>, b: Option<Edge>, low| match (a, b) {
            (Some(a), Some(b)) => Some(tighter(a, b, low)),
            (one, other) => one.or(other),
        };
        let real = Real {
            low: both(edge("minimum", false)?, edge("exclusiveMinimum", true)?, true),
            high: both(edge("maximum", false)?, edge("exclusiveMaximum", true)?, false),
        };
        let (low, high) = real.ends();
        if low > high { self.refuse("minimum", "no number lies between the bounds") } else { Ok(real) }
    }

    /// A format says what the reader can hold (schemars writes Rust's integer types); validators do not check it.
    fn format(&self) -> Result<(i128, i128), Unsupported> {
        Ok(match self.get("format").and_then(Value::as_str) {
            None => (-SAFE, SAFE),
            Some("int8") => (i8::MIN.into(), i8::MAX.into()),
            Some("int16") => (i16::MIN.into(), i16::MAX.into()),
            Some("int32") => (i32::MIN.into(), i32::MAX.into()),
            Some("int64" | "int") => (i64::MIN.into(), i64::MAX.into()),
            Some("uint8") => (0, u8::MAX.into()),
            Some("uint16") => (0, u16::MAX.into()),
            Some("uint32") => (0, u32::MAX.into()),
            Some("uint64" | "uint") => (0, u64::MAX.into()),
            Some(other) => return self.refuse("format", format!("{other} is not a known integer format")),
        })
    }
}

fn rounded(n: &Number, round: fn(f64) -> f64) -> i128 {
    let exact = n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
    exact.unwrap_or_else(|| round(n.as_f64().unwrap_or_default()) as i128).clamp(-HUGE, HUGE)
}
