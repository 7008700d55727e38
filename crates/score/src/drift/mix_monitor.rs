//! Alarm on a change of the mix of tools or skills.

use super::stability_index::{StabilityIndex, stability_index};
use std::collections::BTreeMap;

/// Traces that make the reference, and those that are compared with it at a time.
const REFERENCE: u64 = 500;
const BLOCK: u64 = 250;
/// Index above which the whole interval must lie.
const BOUND: f64 = 0.1;
/// Most kinds; the others count as one.
const MAX_KINDS: usize = 256;

/// Monitor of the shares of kinds. A trace counts once, divided among its calls, because its calls are not independent.
#[derive(Debug, Clone, Default)]
pub struct MixMonitor {
    reference: BTreeMap<String, f64>,
    reference_traces: u64,
    block: BTreeMap<String, f64>,
    block_traces: u64,
    block_from: u64,
}

/// Change of a mix.
#[derive(Debug, Clone, PartialEq)]
pub struct MixShift {
    /// Begin of the block of traces that differs.
    pub since: u64,
    pub index: StabilityIndex,
    pub samples: u64,
}

impl MixMonitor {
    /// Starts from the mix of a reference run.
    pub fn with_reference(reference: BTreeMap<String, f64>) -> Self {
        Self { reference, reference_traces: REFERENCE, ..Self::default() }
    }

    /// Returns whether the next trace begins a block.
    pub fn is_at_block_begin(&self) -> bool {
        self.block_traces == 0
    }

    /// Adds the kinds of one trace. Returns a shift at the end of a block that differs from the reference.
    pub fn add(&mut self, at: u64, kinds: &[String]) -> Option<MixShift> {
        if kinds.is_empty() {
            return None;
        }
        if self.reference_traces < REFERENCE {
            self.reference_traces += 1;
            count(&mut self.reference, kinds);
            return None;
        }
        if self.block_traces == 0 {
            self.block_from = at;
        }
        self.block_traces += 1;
        count(&mut self.block, kinds);
        if self.block_traces < BLOCK {
            return None;
        }
        let (block, samples, since) = (std::mem::take(&mut self.block), self.block_traces, self.block_from);
        self.block_traces = 0;
        let index = stability_index(&self.reference, &block)?;
        if index.low <= BOUND {
            return None;
        }
        // The new mix is what counts as usual from now on, so that one change gives one alarm.
        *self = Self { reference: block, reference_traces: samples, ..Self::default() };
        Some(MixShift { since, index, samples })
    }
}

fn count(into: &mut BTreeMap<String, f64>, kinds: &[String]) {
    let share = 1.0 / kinds.len() as f64;
    for kind in kinds {
        let name = if into.len() < MAX_KINDS || into.contains_key(kind) { kind.as_str() } else { "others" };
        *into.entry(name.to_owned()).or_default() += share;
    }
}
