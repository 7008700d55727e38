//! Slices of a comparison grouped by gate: one row per gate, regressions first.

use score::pairing::{ChangeVerdict, PairedSlice};

/// Slices of one gate.
#[derive(Debug)]
pub(super) struct GateChange<'r> {
    pub gate: &'r str,
    pub verdict: ChangeVerdict,
    /// Slice with that verdict that changed most.
    pub worst: &'r PairedSlice,
    /// Slices with that verdict, and all slices.
    pub slices: usize,
    pub all_slices: usize,
    /// Further gates with the same numbers.
    pub repeated: usize,
    /// A slice was met before and is not any more.
    pub is_newly_missed: bool,
}

/// Groups slices by gate. Gates whose numbers are those of an earlier one are counted with it.
pub(super) fn gate_changes(slices: &[PairedSlice]) -> Vec<GateChange<'_>> {
    let mut gates: Vec<GateChange<'_>> = vec![];
    for slice in slices {
        let Some(gate) = slice.gate.as_deref() else { continue };
        match gates.iter_mut().find(|known| known.gate == gate) {
            Some(known) => add_slice(known, slice),
            None => gates.push(GateChange {
                gate,
                verdict: slice.verdict,
                worst: slice,
                slices: 1,
                all_slices: 1,
                repeated: 0,
                is_newly_missed: slice.is_newly_missed,
            }),
        }
    }
    let mut distinct: Vec<GateChange<'_>> = vec![];
    for gate in gates {
        let numbers =
            |one: &GateChange<'_>| (one.worst.before, one.worst.after, one.worst.counts, one.slices, one.all_slices, one.is_newly_missed);
        match distinct.iter_mut().find(|known| numbers(known) == numbers(&gate)) {
            Some(known) => known.repeated += 1,
            None => distinct.push(gate),
        }
    }
    distinct.sort_by(|a, b| rank(a.worst).cmp(&rank(b.worst)).then(b.worst.counts.worse.cmp(&a.worst.counts.worse)));
    distinct
}

fn add_slice<'r>(known: &mut GateChange<'r>, slice: &'r PairedSlice) {
    known.all_slices += 1;
    known.is_newly_missed |= slice.is_newly_missed;
    let order = rank(slice).cmp(&rank(known.worst));
    if order.is_lt() {
        (known.verdict, known.slices, known.worst) = (slice.verdict, 1, slice);
    } else if order.is_eq() {
        known.slices += 1;
        if slice.counts.worse > known.worst.counts.worse {
            known.worst = slice;
        }
    }
}

fn rank(slice: &PairedSlice) -> u8 {
    match slice.verdict {
        ChangeVerdict::Regression => 0,
        ChangeVerdict::Improvement | ChangeVerdict::NotEnoughData | ChangeVerdict::Tied if slice.is_newly_missed => 1,
        ChangeVerdict::Improvement => 2,
        ChangeVerdict::NotEnoughData => 3,
        ChangeVerdict::Tied => 4,
    }
}
