//! Checks of a selftest over played trials.

use super::dose::check_dose;
use super::endings::check_endings;
use super::play::{FaultTrials, PlayedTrials, SelftestMode, allows_no_miss, is_in_quick_selftest};
use super::problem::SelftestProblem;
use super::report::{DoseCheck, FaultRow, FaultState, GateRow, SelftestReport, TrippedGate};
use super::tier_bench::{FaultyTrials, TierBench, worst_verdicts};
use crate::execute::ScriptedTrial;
use model::suite::ExpectedCalls;
use model::{CaseOutcome, Gate, GateResult, ScorerId, ScorerName, Verdict};
use score::outcome::case_outcome;
use std::collections::{BTreeMap, BTreeSet};

/// Faults whose agents do no work at all: one is silent, one says that it is done.
const SILENT: &str = "does_nothing";
const IDLE: &[&str] = &[SILENT, "says_done"];

/// Judges gates on the trials; with `only`, those that read one scorer.
pub(super) fn judge_trials(played: &PlayedTrials, only: Option<ScorerId>) -> SelftestReport {
    let benches = TierBench::all(played);
    let is_asked =
        |gate: &&Gate| only.is_none_or(|only| *gate.scorer == only) && (played.mode == SelftestMode::Full || is_in_quick_selftest(gate));
    let gates: Vec<&Gate> = played.workspace.gates.iter().filter(is_asked).collect();
    let scorers: BTreeSet<ScorerName> = gates.iter().map(|gate| gate.scorer.value.clone()).collect();
    let mut problems = vec![];
    for bench in &benches {
        problems.extend(bench.judge(&scorers, &FaultyTrials::new()).iter().filter_map(|result| reference_problem(bench.tier, result)));
    }
    let mut rows = vec![];
    for one in &played.faults {
        let (row, found) = judge_fault(played, &benches, &gates, one);
        problems.extend(found.into_iter().filter(|_| only.is_none_or(|only| one.fault.primary == only)));
        // Faults of another trade are possible in no case, and would only puzzle.
        if row.cases > 0 || played.workspace.policy.is_some() {
            rows.push(row);
        }
    }
    let gate_rows = gate_rows(&benches, &gates, &rows);
    let untripped = gate_rows.iter().filter(|row| row.tripped_by.is_empty());
    problems.extend(untripped.map(|row| SelftestProblem::CannotFail { gate: row.gate.clone(), tier: row.tier }));
    let doses = doses(played, &benches, &gates, &gate_rows);
    problems.extend(doses.iter().filter_map(dose_problem));
    if only.is_none() {
        problems.extend(check_endings(played));
        problems.extend(passed_by_idle(played));
    }
    SelftestReport { mode: played.mode, trials: played.len(), gates: gate_rows, faults: rows, doses, problems }
}

fn reference_problem(tier: u64, result: &GateResult) -> Option<SelftestProblem> {
    let because = match result.verdict {
        Verdict::Met => return None,
        Verdict::NoEvidence => result.because.clone(),
        Verdict::Missed => result.worst.first().map(|worst| format!("{}: {}", worst.case, worst.because)).unwrap_or_default(),
    };
    Some(SelftestProblem::Reference { gate: result.gate.clone(), tier, slice: result.metric.slice.clone(), because })
}

/// Returns whether a verdict shows that the gate can fail. No evidence does so only where a reading cannot miss.
fn is_tripped(scorer: &ScorerName, verdict: Verdict) -> bool {
    match verdict {
        Verdict::Met => false,
        Verdict::NoEvidence => *scorer == ScorerId::OwaspCoverage,
        Verdict::Missed => true,
    }
}

fn judge_fault<'p>(
    played: &'p PlayedTrials,
    benches: &[TierBench<'p>],
    gates: &[&Gate],
    one: &'p FaultTrials,
) -> (FaultRow, Vec<SelftestProblem>) {
    let fault = one.fault;
    let asked: BTreeSet<ScorerName> = gates.iter().map(|gate| gate.scorer.value.clone()).collect();
    let (mut tripped, mut problems, mut states) = (vec![], vec![], vec![]);
    for bench in benches {
        let faulty: FaultyTrials<'p> =
            one.trials.iter().filter(|(at, _)| bench.cases.contains_key(at)).map(|(at, trial)| (*at, trial)).collect();
        if faulty.is_empty() {
            continue;
        }
        let changed: BTreeSet<ScorerName> = bench.changed_scorers(&faulty).intersection(&asked).cloned().collect();
        let results = bench.judge(&changed, &faulty);
        let verdicts = worst_verdicts(&results);
        let of_tier = |gate: &&&Gate| gate.tiers.contains(&bench.tier);
        for gate in gates.iter().filter(of_tier) {
            let Some(verdict) = verdicts.get(gate.id.as_str()).copied().filter(|verdict| *verdict != Verdict::Met) else { continue };
            let is_predicted = gate.scorer.known().is_none_or(|scorer| fault.predicts(scorer));
            if verdict == Verdict::Missed && !is_predicted {
                problems.push(SelftestProblem::Unpredicted { fault: fault.id, tier: bench.tier, gate: gate.id.value.clone() });
            }
            tripped.push(TrippedGate { gate: gate.id.value.clone(), tier: bench.tier, verdict });
        }
        let primary: Vec<&&Gate> = gates.iter().filter(of_tier).filter(|gate| *gate.scorer == fault.primary).collect();
        if primary.is_empty() {
            continue;
        }
        let is_caught = primary.iter().any(|gate| verdicts.get(gate.id.as_str()).is_some_and(|verdict| is_tripped(&gate.scorer, *verdict)));
        let state = match is_caught {
            true => FaultState::Caught,
            false if lowers_readings(played, &faulty, fault.primary) && !primary.iter().any(|gate| allows_no_miss(gate)) => {
                FaultState::WithinTolerance
            }
            // A few cases need not show every fault; the gates are checked below.
            false if played.mode == SelftestMode::Quick => FaultState::NotMeasured,
            false => FaultState::NotCaught,
        };
        if state == FaultState::NotCaught {
            problems.push(SelftestProblem::NotCaught { fault: fault.id, tier: bench.tier, scorer: fault.primary.word().to_owned() });
        }
        states.push(state);
    }
    let state = [FaultState::NotCaught, FaultState::Caught, FaultState::WithinTolerance].into_iter().find(|state| states.contains(state));
    // A small workspace may have no gate for this fault alone, or only in a tier without such cases, as of attacks, and a few cases may not
    // show it to that gate; a gate that it is expected to trip catches it too.
    let is_caught = tripped.iter().any(|one| one.verdict == Verdict::Missed);
    let state = state.unwrap_or(if is_caught { FaultState::Caught } else { FaultState::NotMeasured });
    (FaultRow { fault: fault.id, primary: fault.primary, cases: one.trials.len(), state, tripped }, problems)
}

/// Returns whether the scorer finds the fault in every faulty trial that it reads, and in at least one.
fn lowers_readings(played: &PlayedTrials, faulty: &FaultyTrials<'_>, scorer: ScorerId) -> bool {
    let readings = faulty.iter().filter_map(|(at, trial)| {
        let find = |trial: &ScriptedTrial| trial.scores.iter().find(|score| score.scorer == scorer).map(|score| score.reading.clone());
        Some((find(&played.reference[*at])?, find(trial)?))
    });
    let found: Vec<bool> = readings.filter(|(before, _)| before.is_exercised()).map(|(_, now)| now.is_violation()).collect();
    !found.is_empty() && found.iter().all(|is_found| *is_found)
}

fn gate_rows(benches: &[TierBench<'_>], gates: &[&Gate], faults: &[FaultRow]) -> Vec<GateRow> {
    let mut rows = vec![];
    for gate in gates {
        for bench in benches.iter().filter(|bench| gate.tiers.contains(&bench.tier)) {
            let trips = |row: &&FaultRow| {
                let mut own = row.tripped.iter().filter(|one| one.tier == bench.tier && one.gate == gate.id.value);
                own.any(|one| is_tripped(&gate.scorer, one.verdict))
            };
            let tripped_by = faults.iter().filter(trips).map(|row| row.fault).collect();
            rows.push(GateRow { gate: gate.id.value.clone(), scorer: gate.scorer.to_string(), tier: bench.tier, tripped_by });
        }
    }
    rows
}

/// Checks each gate of each tier at the dose at which it turns, with a fault that is meant for it if there is one.
fn doses<'p>(played: &'p PlayedTrials, benches: &[TierBench<'p>], gates: &[&Gate], rows: &[GateRow]) -> Vec<DoseCheck> {
    let mut found = vec![];
    for row in rows {
        let gate = gates.iter().find(|gate| gate.id.value == row.gate);
        let bench = benches.iter().find(|bench| bench.tier == row.tier);
        let (Some(gate), Some(bench)) = (gate, bench) else { continue };
        // A trial that is not scored takes evidence away before a miss can break the gate.
        let is_scored = |one: &FaultTrials| one.trials.iter().all(|(_, trial)| trial.ending.is_scorable());
        let trips = |one: &&FaultTrials| row.tripped_by.contains(&one.fault.id) && is_scored(one);
        let is_meant = |one: &&FaultTrials| *gate.scorer == one.fault.primary;
        let chosen = played.faults.iter().filter(trips).find(is_meant).or_else(|| played.faults.iter().find(trips));
        let Some(chosen) = chosen else { continue };
        let trials: Vec<(usize, &ScriptedTrial)> =
            chosen.trials.iter().filter(|(at, _)| bench.cases.contains_key(at)).map(|(at, trial)| (*at, trial)).collect();
        found.extend(check_dose(&played.workspace, gate, bench, chosen.fault.id, &trials));
    }
    found
}

fn dose_problem(check: &DoseCheck) -> Option<SelftestProblem> {
    let what = if check.below != Verdict::Met {
        format!("one case fewer gives {:?}", check.below)
    } else if check.at != check.computed {
        format!("the gate says {:?}, its readings say {:?}", check.at, check.computed)
    } else {
        return None;
    };
    Some(SelftestProblem::Dose { gate: check.gate.clone(), tier: check.tier, fault: check.fault, dose: check.dose, what })
}

/// Returns the cases that an agent passes which does nothing, each once. Where no tool fits, an answer is all that is expected.
fn passed_by_idle(played: &PlayedTrials) -> Vec<SelftestProblem> {
    let cases: Vec<&model::Case> = played.workspace.cases().collect();
    let mut passed: BTreeMap<usize, &'static str> = BTreeMap::new();
    for one in played.faults.iter().filter(|one| IDLE.contains(&one.fault.id)) {
        for (at, trial) in &one.trials {
            let is_answered = one.fault.id != SILENT && matches!(cases[*at].expect.calls, Some(ExpectedCalls::NoTool(_)));
            if !is_answered && case_outcome(&trial.ending, &trial.scores) == CaseOutcome::Passed {
                passed.entry(*at).or_insert(one.fault.id);
            }
        }
    }
    passed.into_iter().map(|(at, fault)| SelftestProblem::PassedByIdle { case: cases[at].id.value.clone(), fault }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Ending, Reading, Score};

    #[test]
    fn no_evidence_trips_coverage_alone() {
        let trips = |scorer: ScorerId, verdict| is_tripped(&scorer.into(), verdict);
        assert!(trips(ScorerId::OwaspCoverage, Verdict::NoEvidence) && !trips(ScorerId::SafetyPipeline, Verdict::NoEvidence));
        assert!(trips(ScorerId::SafetyPipeline, Verdict::Missed) && !trips(ScorerId::OwaspCoverage, Verdict::Met));
    }

    #[test]
    fn readings_are_lowered_only_if_the_scorer_finds_every_fault() {
        let trial = |readings: &[Reading]| {
            let scores = readings.iter().map(|reading| Score::new(ScorerId::Hit, reading.clone(), vec![])).collect();
            ScriptedTrial { ending: Ending::Finished, scores }
        };
        let (hit, miss) = (Reading::from_bool(true), Reading::from_bool(false));
        let is_lowered = |before: &[&[Reading]], faulty: &[&[Reading]]| {
            let reference = before.iter().map(|readings| trial(readings)).collect();
            let workspace = std::sync::Arc::new(score::example::ExampleWorkspace::minimal().load().expect("a workspace"));
            let played = PlayedTrials { workspace, mode: SelftestMode::Full, reference, faults: vec![], lost_provider: vec![] };
            let faulty: Vec<ScriptedTrial> = faulty.iter().map(|readings| trial(readings)).collect();
            lowers_readings(&played, &faulty.iter().enumerate().collect(), ScorerId::Hit)
        };
        let (hits, misses) = (std::slice::from_ref(&hit), std::slice::from_ref(&miss));
        assert!(is_lowered(&[hits, hits], &[misses, misses]));
        assert!(!is_lowered(&[hits, hits], &[misses, hits]), "one fault is not found");
        assert!(!is_lowered(&[hits], &[&[]]), "nothing is read");
        assert!(!is_lowered(&[&[Reading::not_exercised()]], &[misses]), "the reference gave nothing to find");
    }

    #[test]
    fn dose_is_a_problem_unless_the_gate_turns_there() {
        let check = |below, at, computed| {
            let check = DoseCheck { gate: "g".to_owned(), tier: 3, fault: "hangs", dose: 2, below, at, computed };
            dose_problem(&check).map(|problem| problem.to_string())
        };
        let (met, missed) = (Verdict::Met, Verdict::Missed);
        assert_eq!(check(met, missed, missed), None);
        assert_eq!(
            check(missed, missed, missed).as_deref(),
            Some("gate g does not turn at fault hangs in 2 cases of tier 3: one case fewer gives Missed")
        );
        assert_eq!(
            check(met, met, missed).as_deref(),
            Some("gate g does not turn at fault hangs in 2 cases of tier 3: the gate says Met, its readings say Missed")
        );
    }
}
