//! Numbers inside, at and outside their bounds.

use serde_json::{Number, Value};

use crate::random::{SampleRng, SampleStyle};
use crate::shape::{IntegerShape, NumberBounds};

/// Greatest integer that every reader represents exactly, also one that reads numbers as doubles.
pub(crate) const MAX_SAFE_INTEGER: i128 = (1 << 53) - 1;

/// The end of a range that a mutation goes beyond.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RangeEnd {
    Low,
    High,
}

pub(crate) fn json_integer(n: i128) -> Value {
    let small = i64::try_from(n).map(Number::from).ok();
    small.or_else(|| u64::try_from(n).map(Number::from).ok()).map_or_else(|| json_float(n as f64), Value::Number)
}

/// Converts a float. NaN and infinities have no JSON form and become null, which the caller's check rejects.
pub(crate) fn json_float(f: f64) -> Value {
    Number::from_f64(f).map_or(Value::Null, Value::Number)
}

impl IntegerShape {
    fn ends(&self) -> (i128, i128) {
        let (least, most) = self.usual;
        let low = self.bounds.low.unwrap_or_else(|| self.bounds.high.map_or(least, |high| least.min(high - 1000)));
        (low, self.bounds.high.unwrap_or_else(|| most.max(low + 1000)))
    }

    /// Returns `None` if no multiple lies near the drawn number.
    pub(crate) fn draw(&self, random: &mut SampleRng) -> Option<Value> {
        let (low, high) = self.ends();
        // Most real arguments are small: prefer the part of the range nearest to zero.
        let near = 0.clamp(low, high);
        let n = match (random.style, random.below(10)) {
            (SampleStyle::Typical, _) if near < high => random.between(near, high.min(near + 1000)),
            (SampleStyle::Typical, _) => random.between(low.max(near - 1000), near),
            (SampleStyle::Smallest, _) | (_, 0) => low,
            (SampleStyle::Largest, _) | (_, 1) => high,
            (_, 2..=6) => {
                let reach = 10_i128.pow(random.below(6) as u32);
                random.between((near - reach).max(low), (near + reach).min(high))
            }
            _ => random.between(low, high),
        };
        let lower = n - n.rem_euclid(self.multiple_of);
        let n = if lower < low { lower + self.multiple_of } else { lower };
        let as_float = n.abs() <= MAX_SAFE_INTEGER && random.style != SampleStyle::Typical && random.one_in(12);
        (n <= high).then(|| if as_float { json_float(n as f64) } else { json_integer(n) })
    }

    /// Returns an integer outside the range. Half of them are off by one, the most likely validator bug.
    pub(crate) fn out_of_range(&self, end: RangeEnd, random: &mut SampleRng) -> Option<Value> {
        let (bound, sign) = match end {
            RangeEnd::Low => (self.bounds.low?, -1),
            RangeEnd::High => (self.bounds.high?, 1),
        };
        let wanted = bound + sign * if random.one_in(2) { 1 } else { random.between(1, 1_000_000) };
        // Past 64 bits JSON numbers are doubles, and rounding could move a near miss back into the range.
        let fits = i64::try_from(wanted).is_ok() || u64::try_from(wanted).is_ok();
        Some(if fits { json_integer(wanted) } else { json_float(sign as f64 * (bound as f64).abs().max(1e18) * 4.0) })
    }
}

impl NumberBounds<f64> {
    fn ends(&self) -> (f64, f64) {
        let stand_in = |f: f64| f.abs().max(1e9) * 2.0;
        let low = self.low.unwrap_or_else(|| -stand_in(self.high.unwrap_or(0.0)));
        (low, self.high.unwrap_or_else(|| stand_in(self.low.unwrap_or(0.0))))
    }

    pub(crate) fn draw(&self, random: &mut SampleRng) -> Value {
        let (low, high) = self.ends();
        let near = 0.0_f64.clamp(low, high);
        // Few decimals, as in real arguments; the clamp corrects rounding out of the range.
        let around = |reach: f64, random: &mut SampleRng| {
            let (from, to) = ((near - reach).max(low), (near + reach).min(high));
            ((random.fraction().mul_add(to - from, from) * 1e4).round() / 1e4).clamp(low, high)
        };
        let f = match (random.style, random.below(10)) {
            (SampleStyle::Typical, _) => around(1000.0, random).abs().clamp(low, high),
            (SampleStyle::Smallest, _) | (_, 0) => low,
            (SampleStyle::Largest, _) | (_, 1) => high,
            (_, 2) => near,
            (_, 3..=6) => around(10_f64.powi(random.below(5) as i32), random),
            (_, 7) => (low / 2.0 + high / 2.0).round().clamp(low, high),
            _ => random.fraction().mul_add(high - low, low).clamp(low, high),
        };
        if f.fract() == 0.0 && f.abs() <= MAX_SAFE_INTEGER as f64 && random.one_in(2) { json_integer(f as i128) } else { json_float(f) }
    }

    pub(crate) fn out_of_range(&self, end: RangeEnd, random: &mut SampleRng) -> Option<Value> {
        let (bound, next, sign) = match end {
            RangeEnd::Low => (self.low?, self.low?.next_down(), -1.0),
            RangeEnd::High => (self.high?, self.high?.next_up(), 1.0),
        };
        Some(json_float(if random.one_in(2) { next } else { bound + sign * (bound.abs() * 0.5).max(1.0) }))
    }
}
