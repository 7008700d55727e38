//! Population stability index of two mixes, with an interval.

use std::collections::BTreeMap;

/// Index of two mixes: below 0.1 little changed, above 0.25 a lot.
#[derive(Debug, Clone, PartialEq)]
pub struct StabilityIndex {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Part of each kind in the index, the largest first: name, share before, share after.
    pub moved: Vec<(String, f64, f64)>,
}

/// Standard deviations on each side of the interval, which holds 90 %.
const WIDTH: f64 = 1.645;
/// Count that is added to each kind, so that one that was never seen has a share.
const PRIOR: f64 = 0.5;

/// Compares the shares of kinds before and after; absent if a side is empty. The interval is by the delta method, less the value that
/// chance alone gives.
pub fn stability_index(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> Option<StabilityIndex> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let kinds = names.len() as f64;
    let (old, new): (f64, f64) = (before.values().sum(), after.values().sum());
    if old <= 0.0 || new <= 0.0 {
        return None;
    }
    let share = |counts: &BTreeMap<String, f64>, total: f64, name: &String| {
        (counts.get(name).copied().unwrap_or(0.0) + PRIOR) / (total + PRIOR * kinds)
    };
    let (mut value, mut parts) = (0.0, vec![]);
    let (mut old_slopes, mut new_slopes) = (SlopeSum::default(), SlopeSum::default());
    for name in names {
        let (q, p) = (share(before, old, name), share(after, new, name));
        let part = (p - q) * (p / q).ln();
        value += part;
        new_slopes.add(p, (p / q).ln() + 1.0 - q / p);
        old_slopes.add(q, (q / p).ln() + 1.0 - p / q);
        parts.push((part, name.clone(), q, p));
    }
    let noise = (kinds - 1.0) * (1.0 / old + 1.0 / new);
    let variance = new_slopes.variance() / new + old_slopes.variance() / old + 2.0 * (kinds - 1.0) * (1.0 / old + 1.0 / new).powi(2);
    let half = WIDTH * variance.sqrt();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let moved = parts.into_iter().map(|(_, name, before, after)| (name, before, after)).collect();
    Some(StabilityIndex { value, low: (value - noise - half).max(0.0), high: value - noise + half, moved })
}

#[derive(Default)]
struct SlopeSum {
    mean: f64,
    squares: f64,
}

impl SlopeSum {
    fn add(&mut self, share: f64, slope: f64) {
        self.mean += share * slope;
        self.squares += share * slope * slope;
    }

    fn variance(&self) -> f64 {
        (self.squares - self.mean * self.mean).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(counts: &[(&str, f64)]) -> BTreeMap<String, f64> {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn equal_mixes_have_an_index_of_zero_and_a_new_tool_stands_out() {
        let before = mix(&[("quote", 500.0), ("swap", 300.0), ("balance", 200.0)]);
        let same = stability_index(&before, &before).unwrap();
        assert_eq!((same.value, same.low), (0.0, 0.0));
        let after = mix(&[("quote", 500.0), ("swap", 100.0), ("balance", 200.0), ("transfer", 200.0)]);
        let changed = stability_index(&before, &after).unwrap();
        assert!(changed.low > 0.25 && changed.low < changed.value && changed.value < changed.high + 0.1, "{changed:?}");
        assert_eq!(changed.moved[0].0, "transfer");
        assert_eq!(stability_index(&before, &mix(&[])), None);
    }
}
