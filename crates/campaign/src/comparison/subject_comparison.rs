//! Result of a comparison of two sides.

use super::side_facts::{ComparedSide, SideFacts, SideSource};
use score::pairing::{ChangeVerdict, RunComparison, RunNoise, compare_sides};

/// One subject compared with another, or with itself in an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectComparison {
    pub before: SideFacts,
    pub after: SideFacts,
    pub noise: RunNoise,
    pub result: RunComparison,
}

impl SubjectComparison {
    pub fn has_regression(&self) -> bool {
        self.result.slices.iter().chain([&self.result.cases]).any(|slice| slice.verdict == ChangeVerdict::Regression)
    }

    /// Returns whether the comparison lacks evidence: no pairs, too few of them, cases without a result or with trials that did not run, or a gate
    /// that was met and is not measured any more.
    pub fn is_incomplete(&self) -> bool {
        self.result.cases.verdict == ChangeVerdict::NotEnoughData || self.lacks_results() || self.result.lost_evidence()
    }

    /// Returns whether nothing could be paired, or cases lack results or trials on a side. Enough to name each case that got worse.
    pub fn lacks_results(&self) -> bool {
        self.result.cases.counts.paired() == 0 || !self.result.without_result.is_empty() || !self.result.unplayed.is_empty()
    }
}

/// Compares two sides, paired by case.
pub fn compare_subjects(before: &ComparedSide<'_>, after: &ComparedSide<'_>) -> SubjectComparison {
    let noise = match (before.facts.noise, after.facts.noise) {
        (RunNoise::None, RunNoise::None) => RunNoise::None,
        (RunNoise::None | RunNoise::Sampled, RunNoise::None | RunNoise::Sampled) => RunNoise::Sampled,
    };
    let mut result = compare_sides(&before.readings, &after.readings, noise);
    // Baselines know which cases passed, and have no reading of other gates to lose.
    if after.facts.source == SideSource::Golden {
        result.slices.retain(|slice| slice.after.is_some());
    }
    SubjectComparison { before: before.facts.clone(), after: after.facts.clone(), noise, result }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CaseOutcome, ContentHash, Money, Reading, Score, Workspace};
    use score::example::ExampleWorkspace;
    use score::pairing::{RunSide, SideTrial};
    use std::time::Duration;

    fn side<'w>(workspace: &'w Workspace, source: SideSource, reading: &Reading) -> ComparedSide<'w> {
        let mut readings = RunSide::new(workspace);
        for (n, case) in
            workspace.suites.iter().filter(|suite| suite.name.contains("tool_selection")).flat_map(|suite| &suite.cases).enumerate()
        {
            let (trial, scores) = (ContentHash::of_text(&n.to_string()), vec![Score::new("hit", reading.clone(), vec![])]);
            readings.add(&SideTrial { trial: &trial, case, hash: Some(&case.hash), scores: &scores, outcome: CaseOutcome::Passed });
        }
        let (subject, noise, spent) = ("a".to_owned(), RunNoise::None, Money::ZERO);
        ComparedSide {
            facts: SideFacts { source, subject, noise, trials: 40, gone: 0, unplayed: 0, spent, wall: Duration::ZERO },
            readings,
        }
    }

    #[test]
    fn lost_evidence_is_no_clean_comparison() {
        for (bound, is_regression) in [("0.85", false), ("1.0", true)] {
            let gates = format!(
                "gates:\n  - {{ id: hits, spec: ours, scorer: hit, slice: pooled, tiers: [2], min_cases: 1, aggregate: rate, at_least: {bound}, why: test }}\n"
            );
            let workspace = ExampleWorkspace::minimal().with("gates.yaml", &gates).load().expect("a workspace");
            let met = side(&workspace, SideSource::Run(None), &Reading::from_bool(true));
            let compare = |source| compare_subjects(&met, &side(&workspace, source, &Reading::not_exercised()));
            let silent = compare(SideSource::Run(None));
            assert_eq!((silent.has_regression(), silent.is_incomplete()), (is_regression, true), "{bound}");
            let golden = compare(SideSource::Golden);
            assert!(!golden.has_regression() && !golden.is_incomplete(), "baselines have no readings of gates");
            assert!(!compare_subjects(&met, &met).is_incomplete());
        }
    }
}
