//! Cases whose result changed, grouped by cause.

use super::side_case::SideCase;
use crate::causes::FailureCause;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlipDirection {
    Worse,
    Better,
}

/// Case whose pass rate, or whose value for a gate, changed.
#[derive(Debug, Clone, PartialEq)]
pub struct FlippedCase {
    pub case: String,
    /// Share of its trials that passed, or its value for the gate.
    pub before: f64,
    pub after: f64,
    /// Short ids of a trial on each side, the failed one if there is one. Baselines have none.
    pub trials: [Option<String>; 2],
}

/// Flipped cases with the same cause.
#[derive(Debug, Clone, PartialEq)]
pub struct FlipGroup {
    pub direction: FlipDirection,
    /// First cause of the failed trial; absent if its scores name none.
    pub cause: Option<FailureCause>,
    pub cases: Vec<FlippedCase>,
}

/// Groups cases that changed: worse before better, larger groups first.
pub(super) fn flip_groups<'c>(pairs: impl Iterator<Item = (&'c str, &'c SideCase, &'c SideCase)>) -> Vec<FlipGroup> {
    let mut groups: Vec<FlipGroup> = vec![];
    for (case, a, b) in pairs {
        let (Some(before), Some(after)) = (a.rate(), b.rate()) else { continue };
        let (direction, failed) = match after - before {
            change if change < -1e-9 => (FlipDirection::Worse, b),
            change if change > 1e-9 => (FlipDirection::Better, a),
            _ => continue,
        };
        let flipped = FlippedCase { case: case.to_owned(), before, after, trials: [a.trial.clone(), b.trial.clone()] };
        let cause = failed.causes.first();
        match groups.iter_mut().find(|group| group.direction == direction && group.cause.as_ref() == cause) {
            Some(group) => group.cases.push(flipped),
            None => groups.push(FlipGroup { direction, cause: cause.cloned(), cases: vec![flipped] }),
        }
    }
    for group in &mut groups {
        let change = |case: &FlippedCase| (case.after - case.before).abs();
        group.cases.sort_by(|a, b| change(b).total_cmp(&change(a)));
    }
    groups.sort_by(|a, b| a.direction.cmp(&b.direction).then(b.cases.len().cmp(&a.cases.len())).then(a.cause.cmp(&b.cause)));
    groups
}
