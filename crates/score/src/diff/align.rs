//! Aligns two sequences at minimal cost.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AlignStep {
    Both(usize, usize),
    Left(usize),
    Right(usize),
}

/// Cost of an unpaired item. A pair costs less than two gaps, even if many arguments differ.
const GAP: usize = 100;

/// Returns the cheapest alignment. `differs` returns the number of differences of a pair, or `None` if the two cannot be paired.
pub(super) fn align(left: usize, right: usize, differs: impl Fn(usize, usize) -> Option<usize>) -> Vec<AlignStep> {
    let cost = |a: usize, b: usize| differs(a, b).map(|places| if places == 0 { 0 } else { (GAP + places).min(2 * GAP - 1) });
    // least[a][b] is the minimal cost of aligning everything from (a, b) on.
    let mut least = vec![vec![0_usize; right + 1]; left + 1];
    for a in (0..=left).rev() {
        for b in (0..=right).rev() {
            least[a][b] = match (a < left, b < right) {
                (false, false) => 0,
                (true, false) => GAP + least[a + 1][b],
                (false, true) => GAP + least[a][b + 1],
                (true, true) => {
                    let gap = GAP + least[a + 1][b].min(least[a][b + 1]);
                    cost(a, b).map_or(gap, |cost| gap.min(cost + least[a + 1][b + 1]))
                }
            };
        }
    }
    let (mut a, mut b, mut steps) = (0, 0, vec![]);
    while a < left || b < right {
        let both = a < left && b < right && cost(a, b).is_some_and(|cost| least[a][b] == cost + least[a + 1][b + 1]);
        if both {
            steps.push(AlignStep::Both(a, b));
            (a, b) = (a + 1, b + 1);
        } else if a < left && least[a][b] == GAP + least[a + 1][b] {
            steps.push(AlignStep::Left(a));
            a += 1;
        } else {
            steps.push(AlignStep::Right(b));
            b += 1;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(left: &str, right: &str) -> Vec<AlignStep> {
        let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
        align(left.len(), right.len(), |a, b| left[a].eq_ignore_ascii_case(&right[b]).then(|| usize::from(left[a] != right[b])))
    }

    #[test]
    fn align_prefers_equal_then_similar_then_gaps() {
        assert_eq!(aligned("ab", "ab"), [AlignStep::Both(0, 0), AlignStep::Both(1, 1)]);
        assert_eq!(aligned("Aa", "a"), [AlignStep::Left(0), AlignStep::Both(1, 0)]);
        assert_eq!(aligned("a", "A"), [AlignStep::Both(0, 0)]);
        assert_eq!(aligned("ab", "b"), [AlignStep::Left(0), AlignStep::Both(1, 0)]);
        assert_eq!(aligned("", "x"), [AlignStep::Right(0)]);
    }
}
