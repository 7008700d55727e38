//! Alarm on a change of the mix of tools or skills.

use super::stability_index::{StabilityIndex, stability_index};
use std::collections::{BTreeMap, VecDeque};

/// Traces that make the reference, and those that are compared with it at a time.
const REFERENCE: u64 = 500;
const BLOCK: u64 = 250;
/// Index above which the whole interval must lie.
const BOUND: f64 = 0.1;
/// Most blocks of a window; of a busier one the newest count.
const MAX_BLOCKS: usize = 400;
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
    /// Seconds of the past that make the reference; absent if the first traces do.
    window_s: Option<u64>,
    /// Blocks of that window, each with its begin.
    past: VecDeque<(u64, BTreeMap<String, f64>)>,
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

    /// Compares with the traces of a past window, which moves on with the traffic.
    pub fn over_window(window_s: u64) -> Self {
        Self { reference_traces: REFERENCE, window_s: Some(window_s), ..Self::default() }
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
        if let Some(window_s) = self.window_s {
            let index = stability_index(&self.past_mix(since.saturating_sub(window_s)), &block).filter(|index| index.low > BOUND);
            if index.is_some() {
                self.past.clear();
            }
            self.past.push_back((since, block));
            return index.map(|index| MixShift { since, index, samples });
        }
        let index = stability_index(&self.reference, &block)?;
        if index.low <= BOUND {
            return None;
        }
        // The new mix is what counts as usual from now on, so that one change gives one alarm.
        *self = Self { reference: block, reference_traces: samples, ..Self::default() };
        Some(MixShift { since, index, samples })
    }

    /// Forgets blocks that began before a time, and returns the mix of the others.
    fn past_mix(&mut self, from: u64) -> BTreeMap<String, f64> {
        while self.past.len() > MAX_BLOCKS || self.past.front().is_some_and(|(begin, _)| *begin < from) {
            self.past.pop_front();
        }
        let mut mix: BTreeMap<String, f64> = BTreeMap::new();
        for (kind, share) in self.past.iter().flat_map(|(_, block)| block) {
            *mix.entry(kind.clone()).or_default() += share;
        }
        mix
    }
}

fn count(into: &mut BTreeMap<String, f64>, kinds: &[String]) {
    let share = 1.0 / kinds.len() as f64;
    for kind in kinds {
        let name = if into.len() < MAX_KINDS || into.contains_key(kind) { kind.as_str() } else { "others" };
        *into.entry(name.to_owned()).or_default() += share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds traces, one each second, and returns the times at which a shift was found.
    fn shifts(monitor: &mut MixMonitor, from: u64, kinds: &[(&str, u64)]) -> Vec<u64> {
        let mut found = vec![];
        let mut at = from;
        for (kind, traces) in kinds {
            for _ in 0..*traces {
                found.extend(monitor.add(at, &[(*kind).to_owned()]).map(|shift| shift.since));
                at += 1;
            }
        }
        found
    }

    #[test]
    fn a_past_window_moves_on_with_the_traffic() {
        let mut monitor = MixMonitor::over_window(1_000);
        assert_eq!(shifts(&mut monitor, 0, &[("quote", 1_000), ("swap", 500), ("swap", 1_000)]), [1_000], "one change, one alarm");
        // Weeks later the old mix is forgotten: there is nothing to compare the first block with.
        let mut monitor = MixMonitor::over_window(1_000);
        assert_eq!(shifts(&mut monitor, 0, &[("quote", 1_000)]), [] as [u64; 0]);
        assert_eq!(shifts(&mut monitor, 1_000_000, &[("swap", 500)]), [] as [u64; 0]);
        let mut fixed = MixMonitor::default();
        assert_eq!(shifts(&mut fixed, 0, &[("quote", 1_000)]), [] as [u64; 0]);
        assert_eq!(shifts(&mut fixed, 1_000_000, &[("swap", 500)]), [1_000_000], "the first traces are never forgotten");
    }
}
