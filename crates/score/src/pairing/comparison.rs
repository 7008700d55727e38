//! Two sides compared on the cases that both have.

use super::change_verdict::{ChangeVerdict, PairCounts, PairEvidence, RunNoise, change_verdict};
use super::flips::{FlipGroup, FlippedCase, flip_groups};
use super::run_side::RunSide;
use super::side_case::SideCase;
use super::side_readings::{SideReadings, SideSlice};
use crate::gates::{CaseReadings, allows_no_miss};
use crate::statistics::holm_adjusted;
use model::{Gate, GateAggregate, GateBound};
use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Clone, PartialEq)]
pub struct RunComparison {
    /// Cases that passed, over all paired cases.
    pub cases: PairedSlice,
    /// One per gate and slice that both sides measured.
    pub slices: Vec<PairedSlice>,
    pub flips: Vec<FlipGroup>,
    /// Cases that only one side has.
    pub only_before: usize,
    pub only_after: usize,
    /// Cases that changed between the sides, so that their results are not comparable.
    pub changed_cases: Vec<String>,
    /// Cases that have a result on one side only, because they were aborted or not judged on the other.
    pub without_result: Vec<String>,
    /// Other cases of which trials of an unfinished run have not run.
    pub unplayed: Vec<String>,
    /// Cases without a result on both sides, such as rubrics of runs without a judge.
    pub never_judged: usize,
}

/// One gate and slice on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedSlice {
    /// Absent for the cases as a whole.
    pub gate: Option<String>,
    pub slice: String,
    /// Values over the paired cases.
    pub before: Option<f64>,
    pub after: Option<f64>,
    pub counts: PairCounts,
    pub p_value: f64,
    /// Adjusted by Holm for all slices of the comparison that could be significant.
    pub adjusted: f64,
    pub verdict: ChangeVerdict,
    /// The gate was met on the paired cases before, and is missed or has no evidence on them now.
    pub is_newly_missed: bool,
    /// The gate is met on the paired cases now.
    pub is_met: bool,
    /// The gate has no reading now, and some of its cases before were not selected now.
    pub is_unselected: bool,
    /// Cases of the gate that got worse, most first, if the slice regressed or is newly missed. They may have failed before as well.
    pub worse: Vec<FlippedCase>,
}

impl RunComparison {
    /// Returns whether anything got worse, in however few cases: a case, a reading of a gate, or a gate that was met.
    pub fn got_worse(&self) -> bool {
        let is_worse = |slice: &PairedSlice| slice.counts.worse > 0 || slice.is_newly_missed;
        is_worse(&self.cases) || self.slices.iter().any(is_worse)
    }

    /// Returns whether a gate that was met has no evidence any more, although its cases were run again.
    pub fn lost_evidence(&self) -> bool {
        self.slices.iter().any(PairedSlice::lost_evidence)
    }
}

impl PairedSlice {
    /// Returns whether the gate was met before and has no evidence any more.
    pub fn lost_evidence(&self) -> bool {
        self.is_newly_missed && self.after.is_none()
    }
}

/// Slice before its verdict.
struct MeasuredPair {
    gate: Option<String>,
    slice: String,
    before: Option<f64>,
    after: Option<f64>,
    counts: PairCounts,
    mean_change: f64,
    is_first_miss: bool,
    is_newly_missed: bool,
    is_met: bool,
    is_unselected: bool,
    worse: Vec<FlippedCase>,
}

impl MeasuredPair {
    /// Returns a slice that nothing was counted in yet.
    fn new(gate: Option<String>, slice: &str, before: Option<f64>, after: Option<f64>) -> Self {
        Self {
            gate,
            slice: slice.to_owned(),
            before,
            after,
            counts: PairCounts::default(),
            mean_change: 0.0,
            is_first_miss: false,
            is_newly_missed: false,
            is_met: false,
            is_unselected: false,
            worse: vec![],
        }
    }
}

/// Unit of a slice on both sides.
struct UnitPair<'r> {
    unit: &'r str,
    before: &'r CaseReadings,
    after: &'r CaseReadings,
}

/// Compares two sides, paired by case.
pub fn compare_sides(before: &RunSide<'_>, after: &RunSide<'_>, noise: RunNoise) -> RunComparison {
    compare_readings(after.gate_list(), &before.readings(), &after.readings(), noise)
}

/// Compares two sides by their readings. Slices of gates that are not among `gates` are left out.
pub fn compare_readings(gates: &[Gate], before: &SideReadings, after: &SideReadings, noise: RunNoise) -> RunComparison {
    let common: Vec<(&str, &SideCase, &SideCase)> =
        before.cases.iter().filter_map(|(id, a)| Some((id.as_str(), a, after.cases.get(id)?))).collect();
    let is_changed = |a: &SideCase, b: &SideCase| a.hash.is_some() && b.hash.is_some() && a.hash != b.hash;
    let (changed, same): (Vec<_>, Vec<_>) = common.iter().copied().partition(|(_, a, b)| is_changed(a, b));
    let changed_cases: Vec<String> = changed.iter().map(|(id, ..)| (*id).to_owned()).collect();
    let lacks_one = |a: &SideCase, b: &SideCase| a.rate().is_none() != b.rate().is_none();
    let is_unplayed = |a: &SideCase, b: &SideCase| a.unplayed + b.unplayed > 0;
    let ids = |of: &dyn Fn(&SideCase, &SideCase) -> bool| -> Vec<String> {
        same.iter().filter(|(_, a, b)| of(a, b)).map(|(id, ..)| (*id).to_owned()).collect()
    };
    let mut measured = vec![paired_cases(&same)];
    measured.extend(paired_slices(gates, before, after, &changed_cases));
    let mut slices = judged(measured, noise);
    let cases = slices.remove(0);
    RunComparison {
        cases,
        slices,
        flips: flip_groups(same.iter().copied()),
        only_before: before.cases.len() - common.len(),
        only_after: after.cases.len() - common.len(),
        changed_cases,
        without_result: ids(&|a, b| lacks_one(a, b)),
        unplayed: ids(&|a, b| !lacks_one(a, b) && is_unplayed(a, b)),
        never_judged: ids(&|a, b| a.rate().is_none() && b.rate().is_none() && !is_unplayed(a, b)).len(),
    }
}

/// Pairs the slices that both sides measured, without the cases that changed.
fn paired_slices(gates: &[Gate], before: &SideReadings, after: &SideReadings, changed: &[String]) -> Vec<MeasuredPair> {
    let excluded: BTreeSet<String> = changed.iter().map(|id| format!("case {id}")).collect();
    let is_kept: Vec<bool> = before.units.iter().map(|unit| !excluded.contains(unit)).collect();
    let numbers = before.numbers_of(after);
    let later: HashMap<(&str, &str), &SideSlice> =
        after.slices.iter().map(|slice| ((slice.gate.as_str(), slice.slice.as_str()), slice)).collect();
    // Readings of one slice after, by number of the unit before.
    let mut found: Vec<Option<&CaseReadings>> = vec![None; before.units.len()];
    let mut measured = vec![];
    for slice in &before.slices {
        let Some(gate) = gates.iter().find(|gate| gate.id.value == slice.gate) else { continue };
        let Some(other) = later.get(&(slice.gate.as_str(), slice.slice.as_str())) else {
            measured.extend(lost_slice(gate, slice, before, after, &is_kept));
            continue;
        };
        let placed = |(number, readings)| Some((numbers.get(number).copied().flatten()?, readings));
        let own: Vec<(usize, &CaseReadings)> = other.readings.iter().map(|(number, one)| (*number, one)).filter_map(placed).collect();
        own.iter().for_each(|(number, readings)| found[*number] = Some(readings));
        let pairs: Vec<UnitPair<'_>> = slice
            .readings
            .iter()
            .filter(|(number, _)| is_kept.get(*number).copied().unwrap_or(false))
            .filter_map(|(number, one)| Some(UnitPair { unit: before.units.get(*number)?, before: one, after: found[*number]? }))
            .collect();
        let trial = |side: &SideReadings, case: &str| side.cases.get(case).and_then(|case| case.trial.clone());
        let trials = |case: &str| [trial(before, case), trial(after, case)];
        measured.extend(paired_slice(gate, &slice.slice, &pairs, trials).or_else(|| lost_slice(gate, slice, before, after, &is_kept)));
        own.iter().for_each(|(number, _)| found[*number] = None);
    }
    measured
}

fn paired_cases(pairs: &[(&str, &SideCase, &SideCase)]) -> MeasuredPair {
    let rates: Vec<(f64, f64)> = pairs.iter().filter_map(|(_, a, b)| Some((a.rate()?, b.rate()?))).collect();
    let mut counts = PairCounts::default();
    rates.iter().for_each(|(a, b)| counts.add(*a, *b));
    let mean = |values: &mut dyn Iterator<Item = f64>| (!rates.is_empty()).then(|| values.sum::<f64>() / rates.len() as f64);
    let (before, after) = (mean(&mut rates.iter().map(|(a, _)| *a)), mean(&mut rates.iter().map(|(_, b)| *b)));
    let mean_change = after.unwrap_or_default() - before.unwrap_or_default();
    MeasuredPair { counts, mean_change, ..MeasuredPair::new(None, "all", before, after) }
}

/// Measures the paired units of a slice; `None` if no unit has a value on both sides.
fn paired_slice(gate: &Gate, slice: &str, pairs: &[UnitPair<'_>], trials: impl Fn(&str) -> [Option<String>; 2]) -> Option<MeasuredPair> {
    let (mut counts, mut mean_change, mut worse) = (PairCounts::default(), 0.0, vec![]);
    for UnitPair { unit, before, after } in pairs {
        let value = |side: &CaseReadings| side.value(gate.aggregate, gate.k);
        let (Some(before), Some(after)) = (value(before), value(after)) else { continue };
        let change = goodness(gate, after) - goodness(gate, before);
        counts.add(goodness(gate, before), goodness(gate, after));
        mean_change += change;
        if let (true, Some(case)) = (change < -1e-9, unit.strip_prefix("case ")) {
            worse.push((change, FlippedCase { case: case.to_owned(), before, after, trials: trials(case) }));
        }
    }
    worse.sort_by(|(one, a), (other, b)| one.total_cmp(other).then_with(|| a.case.cmp(&b.case)));
    let worse = worse.into_iter().map(|(_, case)| case).collect();
    if counts.paired() == 0 {
        return None;
    }
    let before = pooled_value(gate, pairs.iter().map(|pair| pair.before));
    let after = pooled_value(gate, pairs.iter().map(|pair| pair.after));
    let holds = |value: Option<f64>| value.is_some_and(|value| gate.bound.holds(value));
    let is_newly_missed = holds(before) && !holds(after);
    let is_first_miss = allows_no_miss(gate) && is_newly_missed;
    let (is_met, name) = (holds(after), Some(gate.id.value.clone()));
    Some(MeasuredPair {
        counts,
        mean_change,
        is_first_miss,
        is_newly_missed,
        is_met,
        worse,
        ..MeasuredPair::new(name, slice, before, after)
    })
}

/// Measures a slice that met its gate on cases that were run again, and has no reading of them any more. If further cases of it were not
/// selected, these may hold the readings: that is no first miss, and the gate was met only if it was on all of them.
fn lost_slice(gate: &Gate, slice: &SideSlice, before: &SideReadings, after: &SideReadings, is_kept: &[bool]) -> Option<MeasuredPair> {
    let case_of = |number: usize| before.units.get(number).and_then(|unit| unit.strip_prefix("case "));
    let is_kept = |number: usize| is_kept.get(number) == Some(&true);
    let is_run_again =
        |number: usize| is_kept(number) && case_of(number).and_then(|case| after.cases.get(case)).is_some_and(|case| case.rate().is_some());
    let of = |is_counted: &dyn Fn(usize) -> bool| {
        let units: Vec<&CaseReadings> = slice.readings.iter().filter(|(number, _)| is_counted(*number)).map(|(_, one)| one).collect();
        pooled_value(gate, units.into_iter())
    };
    let value = of(&is_run_again).filter(|value| gate.bound.holds(*value))?;
    let is_selected = |number: usize| case_of(number).is_none_or(|case| after.cases.contains_key(case));
    let is_unselected = slice.readings.iter().any(|(number, _)| is_kept(*number) && !is_selected(*number));
    let is_newly_missed = !is_unselected || of(&is_kept).is_some_and(|value| gate.bound.holds(value));
    let is_first_miss = allows_no_miss(gate) && !is_unselected;
    let name = Some(gate.id.value.clone());
    Some(MeasuredPair { is_first_miss, is_newly_missed, is_unselected, ..MeasuredPair::new(name, &slice.slice, Some(value), None) })
}

/// Returns a value with a sign that makes larger ones better.
fn goodness(gate: &Gate, value: f64) -> f64 {
    match gate.bound {
        GateBound::AtLeast(_) => value,
        GateBound::AtMost(_) => -value,
    }
}

/// Returns the value of a gate over these units.
fn pooled_value<'r>(gate: &Gate, units: impl Iterator<Item = &'r CaseReadings> + Clone) -> Option<f64> {
    let (hit, of) = units.clone().fold((0, 0), |(hit, of), unit| (hit + unit.hit, of + unit.of));
    let rate = (of > 0).then(|| hit as f64 / of as f64);
    let values = || units.clone().filter_map(|unit| unit.value(gate.aggregate, gate.k));
    match gate.aggregate {
        GateAggregate::Rate => rate,
        GateAggregate::MissRate => rate.map(|rate| 1.0 - rate),
        GateAggregate::Misses => (of > 0).then(|| (of - hit) as f64),
        GateAggregate::Max => values().reduce(f64::max),
        GateAggregate::Mean | GateAggregate::PassHatK => {
            let count = values().count();
            (count > 0).then(|| values().sum::<f64>() / count as f64)
        }
    }
}

/// Adjusts the p-values of all slices and gives each its verdict.
fn judged(measured: Vec<MeasuredPair>, noise: RunNoise) -> Vec<PairedSlice> {
    let testable: Vec<usize> = (0..measured.len()).filter(|at| measured[*at].counts.is_testable()).collect();
    let p_values: Vec<f64> = testable.iter().map(|at| measured[*at].counts.p_value()).collect();
    let mut adjusted = vec![1.0; measured.len()];
    for (at, p_value) in testable.into_iter().zip(holm_adjusted(&p_values)) {
        adjusted[at] = p_value;
    }
    let judge = |(pair, adjusted): (MeasuredPair, f64)| {
        let MeasuredPair { counts, mean_change, is_first_miss, is_newly_missed, .. } = pair;
        let verdict = change_verdict(PairEvidence { counts, adjusted, mean_change, is_first_miss }, noise);
        let is_named = verdict == ChangeVerdict::Regression || is_newly_missed;
        PairedSlice {
            gate: pair.gate,
            slice: pair.slice,
            before: pair.before,
            after: pair.after,
            counts,
            p_value: counts.p_value(),
            adjusted,
            verdict,
            is_newly_missed,
            is_met: pair.is_met,
            is_unselected: pair.is_unselected,
            worse: if is_named { pair.worse } else { vec![] },
        }
    };
    measured.into_iter().zip(adjusted).map(judge).collect()
}
