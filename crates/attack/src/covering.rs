//! Covering array over attacks: few cases in which every pair of probe and channel, strategy and channel, and strategy and OWASP category
//! occurs that occurs in all of them.

use model::{AttackChannel, AttackKind, AttackRole, Case, CaseAttack, OwaspCategory};
use std::collections::{BTreeMap, BTreeSet};

/// Pair of values that an attack combines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttackPair {
    /// Probe with a channel into a scenario.
    ProbeChannel(String, AttackChannel, String),
    StrategyChannel(String, AttackChannel),
    StrategyCategory(String, OwaspCategory),
    /// Variant of a fault, which has no strategy.
    ProbeVariant(String, String),
}

/// Returns the pairs of an attack.
pub fn attack_pairs(attack: &CaseAttack) -> Vec<AttackPair> {
    let CaseAttack { probe, channel, strategy, scenario, .. } = attack;
    let carried = AttackPair::ProbeChannel(probe.clone(), *channel, scenario.clone());
    match attack.kind {
        AttackKind::Fault => vec![carried, AttackPair::ProbeVariant(probe.clone(), strategy.clone())],
        AttackKind::Inject => {
            let by_channel = AttackPair::StrategyChannel(strategy.clone(), *channel);
            let by_category = attack.asi.iter().map(|asi| AttackPair::StrategyCategory(strategy.clone(), *asi));
            [carried, by_channel].into_iter().chain(by_category).collect()
        }
    }
}

/// Returns cases that cover every pair of the given ones, for each seed of its own, with the twins of the attacks. Cases without an attack
/// stay. The order is kept.
pub fn covering_cases<'c>(cases: &[&'c Case]) -> Vec<&'c Case> {
    let attacked = |case: &Case| case.attack.as_deref().filter(|attack| attack.role == AttackRole::Attacked).map(|attack| attack.seed);
    let seeds: BTreeSet<u64> = cases.iter().filter_map(|case| attacked(case)).collect();
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    for seed in seeds {
        let rows: Vec<usize> = (0..cases.len()).filter(|at| attacked(cases[*at]) == Some(seed)).collect();
        let pairs: Vec<Vec<AttackPair>> =
            rows.iter().map(|at| cases[*at].attack.as_deref().map(attack_pairs).unwrap_or_default()).collect();
        chosen.extend(cover(&pairs).into_iter().map(|row| rows[row]));
    }
    let kept = cases.iter().enumerate().filter(|(at, case)| chosen.contains(at) || attacked(case).is_none());
    kept.map(|(_, case)| *case).collect()
}

/// Returns rows that have every element of all rows: the row with most new elements first, then without those that became superfluous.
fn cover<T: Ord>(rows: &[Vec<T>]) -> Vec<usize> {
    let elements: BTreeSet<&T> = rows.iter().flatten().collect();
    let numbers: BTreeMap<&T, usize> = elements.into_iter().zip(0..).collect();
    let rows: Vec<BTreeSet<usize>> = rows.iter().map(|row| row.iter().map(|element| numbers[element]).collect()).collect();
    // Number of chosen cases that cover each element.
    let mut covered = vec![0_usize; numbers.len()];
    let mut chosen: Vec<usize> = vec![];
    loop {
        let new = |row: &BTreeSet<usize>| row.iter().filter(|element| covered[**element] == 0).count();
        // The first of equal rows, so that the result depends on the order alone.
        let best = (0..rows.len()).map(|at| (new(&rows[at]), usize::MAX - at)).max();
        let Some((_, place)) = best.filter(|(new, _)| *new > 0) else { break };
        let row = usize::MAX - place;
        rows[row].iter().for_each(|element| covered[*element] += 1);
        chosen.push(row);
    }
    chosen.retain(|row| {
        let is_superfluous = rows[*row].iter().all(|element| covered[*element] > 1);
        if is_superfluous {
            rows[*row].iter().for_each(|element| covered[*element] -= 1);
        }
        !is_superfluous
    });
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededRng;

    #[test]
    fn every_element_is_covered_and_no_row_is_superfluous() {
        let mut rng = SeededRng::new(23);
        for round in 0..200 {
            let elements: Vec<usize> = (0..1 + round % 37).collect();
            let rows: Vec<Vec<usize>> =
                (0..1 + round % 50).map(|_| (0..4).filter_map(|_| rng.pick(&elements).copied()).collect()).collect();
            let all: BTreeSet<usize> = rows.iter().flatten().copied().collect();
            let chosen = cover(&rows);
            let covered = |without: Option<usize>| -> BTreeSet<usize> {
                chosen.iter().filter(|row| Some(**row) != without).flat_map(|row| rows[*row].iter().copied()).collect()
            };
            assert_eq!(covered(None), all);
            assert!(chosen.iter().all(|row| covered(Some(*row)) != all), "{rows:?}: {chosen:?}");
        }
        assert!(cover::<u8>(&[]).is_empty() && cover::<u8>(&[vec![], vec![]]).is_empty());
    }

    #[test]
    fn a_grid_needs_no_more_rows_than_its_largest_pair() {
        // 5 × 4 × 3 values: the pairs of the two largest axes need 20 rows of 60.
        let mut rows = vec![];
        for (a, b, c) in (0..60).map(|n| (n / 12, n / 3 % 4, n % 3)) {
            rows.push(vec![(0, a, b), (1, a, c), (2, b, c)]);
        }
        let chosen = cover(&rows);
        assert!((20..=24).contains(&chosen.len()), "{} rows", chosen.len());
    }
}
