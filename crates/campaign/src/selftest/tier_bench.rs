//! Judges the gates of one tier on the trials of the reference, with some of them replaced by faulty ones.

use super::play::{PlayedTrials, judges_attacks};
use crate::execute::ScriptedTrial;
use model::{Case, ContentHash, GateResult, RunClaim, ScorerName, SuiteKind, Verdict};
use score::gates::{GateJudge, MeasuredTrial};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct TierBench<'p> {
    pub tier: u64,
    played: &'p PlayedTrials,
    /// Cases of the tier by their number.
    pub cases: BTreeMap<usize, &'p Case>,
}

/// Faulty trials by the number of their case.
pub(super) type FaultyTrials<'p> = BTreeMap<usize, &'p ScriptedTrial>;

impl<'p> TierBench<'p> {
    /// Returns the tiers that play cases.
    pub(super) fn all(played: &'p PlayedTrials) -> Vec<Self> {
        let tiers = played.workspace.tiers.tiers.iter().filter(|tier| !tier.suites.is_empty());
        let bench = |tier: &model::Tier| {
            let judges_attacks = judges_attacks(&played.workspace, tier);
            let is_played = |case: &model::Case| tier.suites.contains(&case.kind) || (case.kind == SuiteKind::RedTeam && judges_attacks);
            let cases = played.workspace.cases().enumerate().filter(|(_, case)| is_played(case));
            Self { tier: tier.tier, played, cases: cases.collect() }
        };
        tiers.map(bench).filter(|bench| !bench.cases.is_empty()).collect()
    }

    /// Returns the trial of a case.
    pub(super) fn trial(&self, at: usize, faulty: &FaultyTrials<'p>) -> &'p ScriptedTrial {
        faulty.get(&at).copied().unwrap_or(&self.played.reference[at])
    }

    /// Judges the gates of the tier that read one of the scorers.
    pub(super) fn judge(&self, scorers: &BTreeSet<ScorerName>, faulty: &FaultyTrials<'p>) -> Vec<GateResult> {
        if scorers.is_empty() {
            return vec![];
        }
        let claim = RunClaim { tier: Some(self.tier), ..RunClaim::default() };
        let mut gates = GateJudge::new(&self.played.workspace, &claim).with_scorers(scorers);
        let id = ContentHash::of_text("selftest");
        for (at, case) in &self.cases {
            let ScriptedTrial { ending, scores } = self.trial(*at, faulty);
            let aborted = !ending.is_scorable();
            gates.add(&MeasuredTrial { trial: &id, subject: "selftest", case, scores, aborted, content: None });
        }
        let is_read = |result: &GateResult| scorers.contains(&result.metric.scorer);
        gates.finish().judgements.into_iter().filter(is_read).collect()
    }

    /// Returns the scorers whose readings differ from those of the reference in some faulty trial.
    pub(super) fn changed_scorers(&self, faulty: &FaultyTrials<'p>) -> BTreeSet<ScorerName> {
        let mut changed = BTreeSet::new();
        for (at, trial) in faulty {
            let before = &self.played.reference[*at].scores;
            let find = |name: &ScorerName| before.iter().find(|score| score.scorer == *name);
            let differs = trial.scores.iter().filter(|score| {
                find(&score.scorer).is_none_or(|before| before.reading != score.reading || before.by_agent != score.by_agent)
            });
            changed.extend(differs.map(|score| score.scorer.clone()));
            let is_gone = |score: &&model::Score| !trial.scores.iter().any(|other| other.scorer == score.scorer);
            changed.extend(before.iter().filter(is_gone).map(|score| score.scorer.clone()));
        }
        changed
    }
}

/// Returns the worst verdict of each gate: missed before no evidence before met.
pub(super) fn worst_verdicts(results: &[GateResult]) -> BTreeMap<&str, Verdict> {
    let rank = |verdict: Verdict| match verdict {
        Verdict::Met => 0,
        Verdict::NoEvidence => 1,
        Verdict::Missed => 2,
    };
    let mut worst: BTreeMap<&str, Verdict> = BTreeMap::new();
    for result in results {
        let now = worst.entry(result.gate.as_str()).or_insert(result.verdict);
        if rank(result.verdict) > rank(*now) {
            *now = result.verdict;
        }
    }
    worst
}
