//! Numbers inside, at and outside their bounds, with JSON Schema's idea of an integer (1.0 is one).

use serde_json::{Number, Value};

use super::dice::{Dice, Mood};

/// Beyond this, readers that keep numbers as doubles disagree with those that do not.
pub(super) const SAFE: i128 = (1 << 53) - 1;

/// Bounds of an integer, both included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub(super) low: Option<i128>,
    pub(super) high: Option<i128>,
    /// Stands in for a bound not given; going beyond it is no fault.
    pub(super) usual: (i128, i128),
}

/// Bounds of a number; an open edge is itself outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Real {
    pub(super) low: Option<Edge>,
    pub(super) high: Option<Edge>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) at: f64,
    pub(super) open: bool,
}

/// The integer a JSON number stands for, if it is one.
pub(super) fn whole(n: &Number) -> Option<i128> {
    let exact = n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
    exact.or_else(|| n.as_f64().filter(|f| f.fract() == 0.0).map(|f| f as i128))
}

pub(super) fn integer(n: i128) -> Value {
    let small = i64::try_from(n).map(Number::from).ok();
    small.or_else(|| u64::try_from(n).map(Number::from).ok()).map_or_else(|| real(n as f64), Value::Number)
}

/// NaN and infinities have no JSON; they cannot come out of finite bounds, and null would be caught by the check that follows.
pub(super) fn real(f: f64) -> Value {
    Number::from_f64(f).map_or(Value::Null, Value::Number)
}

impl Whole {
    pub(super) fn accepts(&self, n: &Number) -> bool {
        whole(n).is_some_and(|n| self.low.is_none_or(|low| low <= n) && self.high.is_none_or(|high| n <= high))
    }

    fn ends(&self) -> (i128, i128) {
        let (least, most) = self.usual;
        let low = self.low.unwrap_or_else(|| self.high.map_or(least, |high| least.min(high - 1000)));
        (low, self.high.unwrap_or_else(|| most.max(low + 1000)))
    }

    /// The value nearest to zero: what a failing example should shrink to.
    pub(super) fn simplest(&self) -> i128 {
        let (low, high) = self.ends();
        0.clamp(low, high)
    }

    pub(super) fn draw(&self, dice: &mut Dice<'_>) -> Value {
        let (low, high) = self.ends();
        let n = match (dice.mood, dice.below(10)) {
            (Mood::Smallest, _) | (_, 0) => low,
            (Mood::Largest, _) | (_, 1) => high,
            (_, 2..=6) => {
                // Most real arguments are small: stay near the end of the range that is nearest to zero.
                let near = self.simplest();
                let reach = 10_i128.pow(dice.below(6) as u32);
                dice.between((near - reach).max(low), (near + reach).min(high))
            }
            _ => dice.between(low, high),
        };
        if n.abs() <= SAFE && dice.one_in(12) { real(n as f64) } else { integer(n) }
    }

    pub(super) fn below(&self, dice: &mut Dice<'_>) -> Option<Value> {
        self.low.map(|low| outside(low - step(dice), low, -1.0))
    }

    pub(super) fn above(&self, dice: &mut Dice<'_>) -> Option<Value> {
        self.high.map(|high| outside(high + step(dice), high, 1.0))
    }
}

/// Mostly the very next integer: off by one is the mistake worth catching.
fn step(dice: &mut Dice<'_>) -> i128 {
    if dice.one_in(2) { 1 } else { dice.between(1, 1_000_000) }
}

/// Past 64 bits JSON numbers are doubles, whose rounding could bring a near miss back inside; so go far.
fn outside(wanted: i128, bound: i128, sign: f64) -> Value {
    let fits = i64::try_from(wanted).is_ok() || u64::try_from(wanted).is_ok();
    if fits { integer(wanted) } else { real(sign * (bound as f64).abs().max(1e18) * 4.0) }
}

impl Real {
    pub(super) fn accepts(&self, n: &Number) -> bool {
        let Some(f) = n.as_f64() else { return false };
        let above = self.low.is_none_or(|low| low.at < f || (!low.open && low.at == f));
        above && self.high.is_none_or(|high| f < high.at || (!high.open && high.at == f))
    }

    /// The smallest and the largest value inside, or stand-ins for a bound not given.
    pub(super) fn ends(&self) -> (f64, f64) {
        let low = self.low.map(|edge| if edge.open { edge.at.next_up() } else { edge.at });
        let high = self.high.map(|edge| if edge.open { edge.at.next_down() } else { edge.at });
        let stand_in = |f: f64| f.abs().max(1e9) * 2.0;
        (low.unwrap_or_else(|| -stand_in(high.unwrap_or(0.0))), high.unwrap_or_else(|| stand_in(low.unwrap_or(0.0))))
    }

    pub(super) fn draw(&self, dice: &mut Dice<'_>) -> Value {
        let (low, high) = self.ends();
        let near = 0.0_f64.clamp(low, high);
        let f = match (dice.mood, dice.below(10)) {
            (Mood::Smallest, _) | (_, 0) => low,
            (Mood::Largest, _) | (_, 1) => high,
            (_, 2) => near,
            (_, 3..=6) => {
                let reach = 10_f64.powi(dice.below(5) as i32);
                let (low, high) = ((near - reach).max(low), (near + reach).min(high));
                // Few decimals, as people write them; the clamp undoes what rounding moved out.
                ((dice.fraction().mul_add(high - low, low) * 1e4).round() / 1e4).clamp(low, high)
            }
            (_, 7) => (low / 2.0 + high / 2.0).round().clamp(low, high),
            _ => dice.fraction().mul_add(high - low, low).clamp(low, high),
        };
        if f.fract() == 0.0 && f.abs() <= SAFE as f64 && dice.one_in(2) { integer(f as i128) } else { real(f) }
    }

    pub(super) fn below(&self, dice: &mut Dice<'_>) -> Option<Value> {
        let low = self.low?;
        let just = if low.open { low.at } else { low.at.next_down() };
        Some(real(if dice.one_in(2) { just } else { low.at - (low.at.abs() * 0.5).max(1.0) }))
    }

    pub(super) fn above(&self, dice: &mut Dice<'_>) -> Option<Value> {
        let high = self.high?;
        let just = if high.open { high.at } else { high.at.next_up() };
        Some(real(if dice.one_in(2) { just } else { high.at + (high.at.abs() * 0.5).max(1.0) }))
    }
}
