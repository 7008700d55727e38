//! Dose of a fault at which a gate turns: the verdicts one case before and at it.

use super::report::DoseCheck;
use super::threshold::Threshold;
use super::tier_bench::{FaultyTrials, TierBench, worst_verdicts};
use crate::execute::ScriptedTrial;
use model::{Gate, Verdict, Workspace};
use std::collections::BTreeSet;

/// Checks the gate with the fault in one case after the other. None if no dose turns it by computation.
pub(super) fn check_dose<'p>(
    workspace: &Workspace,
    gate: &Gate,
    bench: &TierBench<'p>,
    fault: &'static str,
    trials: &[(usize, &'p ScriptedTrial)],
) -> Option<DoseCheck> {
    let mut threshold = Threshold::new(workspace, gate);
    for (at, case) in &bench.cases {
        threshold.add(case, &bench.trial(*at, &FaultyTrials::new()).scores);
    }
    let mut faulty = FaultyTrials::new();
    let turns = trials.iter().position(|(at, trial)| {
        let case = bench.cases[at];
        threshold.remove(case, &bench.trial(*at, &faulty).scores);
        threshold.add(case, &trial.scores);
        faulty.insert(*at, trial);
        threshold.verdict() != Verdict::Met
    })?;
    let scorers = BTreeSet::from([gate.scorer.value.clone()]);
    let verdict = |dose: usize| {
        let faulty: FaultyTrials<'p> = trials[..dose].iter().copied().collect();
        worst_verdicts(&bench.judge(&scorers, &faulty)).get(gate.id.as_str()).copied().unwrap_or(Verdict::NoEvidence)
    };
    let dose = turns + 1;
    Some(DoseCheck {
        gate: gate.id.value.clone(),
        tier: bench.tier,
        fault,
        dose,
        below: verdict(dose - 1),
        at: verdict(dose),
        computed: threshold.verdict(),
    })
}
