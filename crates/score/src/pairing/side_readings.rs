//! Side of a comparison as it can be kept: results by case, and readings by gate and slice. Comparing two of them reads no trial.

use super::side_case::SideCase;
use crate::gates::{CaseReadings, SliceReadings};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Results and readings of one subject of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SideReadings {
    pub(super) cases: BTreeMap<String, SideCase>,
    /// Names of the units, which are cases for most scorers.
    pub(super) units: Vec<String>,
    pub(super) slices: Vec<SideSlice>,
}

/// One slice of one gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SideSlice {
    pub gate: String,
    pub slice: String,
    /// Readings by number of the unit.
    pub readings: Vec<(usize, CaseReadings)>,
}

impl SideReadings {
    pub(super) fn of(cases: &BTreeMap<String, SideCase>, found: Vec<SliceReadings<'_>>) -> Self {
        let (mut numbers, mut units): (HashMap<String, usize>, Vec<String>) = (HashMap::new(), vec![]);
        let mut slices = vec![];
        for slice in found {
            let mut readings = Vec::with_capacity(slice.units.len());
            for (unit, reading) in slice.units {
                let number = *numbers.entry(unit).or_insert_with_key(|unit| {
                    units.push(unit.clone());
                    units.len() - 1
                });
                readings.push((number, reading));
            }
            slices.push(SideSlice { gate: slice.gate.id.value.clone(), slice: slice.slice, readings });
        }
        Self { cases: cases.clone(), units, slices }
    }

    /// Returns for each unit of `other` the number of the same unit of this side.
    pub(super) fn numbers_of(&self, other: &Self) -> Vec<Option<usize>> {
        let own: HashMap<&str, usize> = self.units.iter().enumerate().map(|(number, unit)| (unit.as_str(), number)).collect();
        other.units.iter().map(|unit| own.get(unit.as_str()).copied()).collect()
    }
}
